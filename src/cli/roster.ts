// headrace roster: who is there, who leads, who owns what; drain, undrain, rebalance, step-down, allotments.
import type { Command } from 'commander'
import type { AllotmentView, DrainAnswer, StepDownAnswer } from '../client/client.ts'
import type { CommandParts } from './command.ts'
import { type ClientFlags, addClientFlags, clientOf } from './flags.ts'
import { type Column, type Output, escapeControls, formatTable } from './output.ts'
import { formatRebalance, formatRoster } from './roster-text.ts'

const EXAMPLES = `Examples:
  $ headrace roster                                   members, leader, shares and overlap
  $ headrace roster rebalance --preview --without m3  what draining m3 would move
  $ headrace roster drain m3                          take m3 out of the work, before a restart
  $ headrace roster undrain m3                        give it its share again
`

/** `roster` has the same flags as the commands under it, and catches them: what was given is read with globals. */
export function addRoster(parts: CommandParts): void {
  const { context, output } = parts
  const roster = parts.program
    .command('roster')
    .description('who is there, who leads, and who owns which partitions')
    .addHelpText('before', EXAMPLES)
  addClientFlags(roster, context).action(async (flags: ClientFlags, self: Command) => {
    const answer = await clientOf(flags, context).roster.get()
    const out = output(self)
    out.result(answer, () => formatRoster(answer, out))
  })
  addDrain(roster, parts)
  addUndrain(roster, parts)
  addRebalance(roster, parts)
  addStepDown(roster, parts)
  addAllotments(roster, parts)
}

function addDrain(roster: Command, { context, output }: CommandParts): void {
  const command = roster
    .command('drain <member>')
    .description('tell a member, by name or id, to hand over what it has and take no more')
    .addHelpText('before', examples('roster drain m3', 'roster rebalance --preview --without m3'))
  addClientFlags(command, context).action(async (member: string, _flags: ClientFlags, self: Command) => {
    const answer = await clientOf(self.optsWithGlobals<ClientFlags>(), context).roster.drain(member)
    output(self).result(answer, () => formatDrain(answer))
  })
}

function addUndrain(roster: Command, { context, output }: CommandParts): void {
  const command = roster
    .command('undrain <member>')
    .description('let a member that drains have its share again')
    .addHelpText('before', examples('roster undrain m3'))
  addClientFlags(command, context).action(async (member: string, _flags: ClientFlags, self: Command) => {
    const answer = await clientOf(self.optsWithGlobals<ClientFlags>(), context).roster.undrain(member)
    output(self).result(answer, () => formatDrain(answer))
  })
}

interface RebalanceFlags extends ClientFlags {
  preview?: boolean
  without?: string[]
}

function addRebalance(roster: Command, { context, output }: CommandParts): void {
  const command = roster
    .command('rebalance')
    .description('have the leader look whether partitions should move; it also does so by itself')
    .addHelpText(
      'before',
      examples('roster rebalance --preview', 'roster rebalance --preview --without m2 --without m3'),
    )
    .option('--preview', 'only show what would move')
    .option('--without <member>', 'in a preview: as if this member drained; may be repeated', collect)
  addClientFlags(command, context).action(async (_flags: RebalanceFlags, self: Command) => {
    const { preview = false, without = [], ...flags } = self.optsWithGlobals<RebalanceFlags>()
    const answer = await clientOf(flags, context).roster.rebalance({ preview, without })
    const out = output(self)
    out.result(answer, () => formatRebalance(answer, { isDrain: without.length > 0, output: out }))
  })
}

function addStepDown(roster: Command, { context, output }: CommandParts): void {
  const command = roster
    .command('step-down')
    .description('end the term of the leader, whichever member it is')
    .addHelpText('before', examples('roster step-down'))
  addClientFlags(command, context).action(async (_flags: ClientFlags, self: Command) => {
    const answer = await clientOf(self.optsWithGlobals<ClientFlags>(), context).roster.stepDown()
    output(self).result(answer, () => formatStepDown(answer))
  })
}

function addAllotments(roster: Command, { context, output }: CommandParts): void {
  const command = roster
    .command('allotments')
    .description('list every partition: its owner, epoch and next owner')
    .addHelpText('before', examples('roster allotments', 'roster allotments --resource pool/ticks --json'))
    .option('--resource <name>', 'only this resource')
  addClientFlags(command, context).action(async (_flags: ClientFlags, self: Command) => {
    const { resource, ...flags } = self.optsWithGlobals<ClientFlags & { resource?: string }>()
    const answer = await clientOf(flags, context).roster.allotments({ resource })
    const out = output(self)
    out.result(answer, () => formatAllotments(answer.items, out))
  })
}

function collect(member: string, before: string[] = []): string[] {
  return [...before, member]
}

function examples(...lines: string[]): string {
  return `Examples:\n${lines.map((line) => `  $ headrace ${line}\n`).join('')}`
}

function formatDrain({ name, draining, partitions, moves }: DrainAnswer): string {
  const stay = moves < partitions ? '; the rest stays until another member can serve it' : ''
  const what = draining
    ? `drains: ${moves} of its ${partitions} partitions go to others${stay}`
    : 'gets its share again'
  return `${escapeControls(name)}  ${what}`
}

function formatStepDown({ steppedDown, name, member, term }: StepDownAnswer): string {
  if (!steppedDown) return 'nobody leads'
  return `${escapeControls(name ?? member ?? '')}  stepped down from term ${term}`
}

function formatAllotments(allotments: readonly AllotmentView[], output: Output): string {
  if (allotments.length === 0) return 'no allotments'
  const columns: Column<AllotmentView>[] = [
    { title: 'resource', text: ({ resource }) => resource },
    { title: 'partition', align: 'right', text: ({ partition }) => String(partition) },
    { title: 'owner', text: ({ owner, ownerName }) => ownerName ?? `${owner} (gone)` },
    { title: 'epoch', align: 'right', text: ({ epoch }) => String(epoch) },
    { title: 'next', text: ({ next, nextName }) => nextName ?? next ?? '-' },
    { title: 'since', text: ({ since }) => since },
    { title: 'moves', align: 'right', text: ({ moves }) => output.count(moves) },
  ]
  return formatTable(columns, allotments, output.dim)
}
