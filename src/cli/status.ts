// headrace status: one screen about a server.
import type { Command } from 'commander'
import type { StatusView, VerdictView } from '../client/client.ts'
import type { CommandParts } from './command.ts'
import { type ClientFlags, addClientFlags, clientOf } from './flags.ts'
import { type Output, escapeControls, formatDuration, formatFields } from './output.ts'
import { formatPools, sayListed } from './pool-text.ts'
import { formatTopics } from './topic.ts'

const EXAMPLES = `Examples:
  $ headrace status
  $ headrace status --server http://10.0.0.7:7400 --json
`

export function addStatus({ program, context, output }: CommandParts): void {
  const command = program
    .command('status')
    .description('how a server is doing: a verdict, its services, share of the work, ticks, pools and topics')
    .addHelpText('before', EXAMPLES)
  addClientFlags(command, context).action(async (flags: ClientFlags, self: Command) => {
    const client = clientOf(flags, context)
    const [status, verdict] = await Promise.all([client.status(), client.verdict()])
    const out = output(self)
    sayListed(status.pools.length, status.poolsTotal, out)
    out.result({ ...status, verdict }, () => `${formatVerdict(verdict, out)}\n\n${formatStatus(status, out)}`)
  })
}

/** The sentence, what to do about what is not well, and what is not the cause. */
function formatVerdict({ sentence, status, findings, not }: VerdictView, output: Output): string {
  const remedies = findings.flatMap((finding) => (finding.status === 'ok' ? [] : (finding.remedy ?? [])))
  return [
    output.bold(escapeControls(sentence)),
    ...(status === 'ok' ? [] : [`  ${output.dim(escapeControls(not.join('   ')))}`]),
    ...[...new Set(remedies)].map((remedy) => `  next: ${escapeControls(remedy)}`),
  ].join('\n')
}

function formatStatus(status: StatusView, output: Output): string {
  const fields = formatFields([
    ['headrace', `${output.bold(status.version)}   up ${formatDuration(status.uptimeMs)}`],
    ['store', escapeControls(status.store)],
    ['member', escapeControls(`${status.roster.name}   ${status.member}`)],
    ['leader', leaderOf(status.roster)],
    ['share', shareOf(status.roster)],
    ['services', status.services.map(({ name, state }) => `${name} ${state}`).join('   ')],
    ...workFields(status, output),
    ['ticks', ticksOf(status.ticks, output)],
  ])
  return [fields, formatPools(status.pools, output), formatTopics(status.topics, output)].join('\n\n')
}

/** What the workers of this process have under way. */
function workFields({ pools }: StatusView, output: Output): [string, string][] {
  const runs = pools.flatMap(({ name, work }) =>
    work === null
      ? []
      : [escapeControls(`${name} ${output.count(work.running)} of ${output.count(work.concurrency)}`)],
  )
  return runs.length === 0 ? [] : [['runs', runs.join('   ')]]
}

function ticksOf(ticks: StatusView['ticks'], output: Output): string {
  if (ticks === null) return 'none'
  const counts = Object.entries(ticks.counts).map(([state, count]) => `${state} ${output.count(count)}`)
  return [`mode ${ticks.mode}`, `${ticks.partitions} partitions`, ...counts].join('   ')
}

function leaderOf({ leader, id }: StatusView['roster']): string {
  if (leader === null) return 'none'
  const who = escapeControls(leader.name ?? leader.member)
  return `${leader.member === id ? `${who}, this member` : who}   term ${leader.term}`
}

function shareOf({ joined, shares }: StatusView['roster']): string {
  if (!joined) return 'none: it has not joined, and only takes requests'
  if (shares.length === 0) return 'none: it serves nothing'
  return shares
    .map(({ resource, held, partitions }) => escapeControls(`${resource} ${held} of ${partitions}`))
    .join('   ')
}
