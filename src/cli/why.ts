// headrace why: why a key does not run yet.
import type { Command } from 'commander'
import type { WhyView } from '../client/client.ts'
import { parseTime } from '../clock.ts'
import type { CommandParts } from './command.ts'
import { type ClientFlags, addClientFlags, clientOf, moment } from './flags.ts'
import { type Output, escapeControls, formatDuration, formatFields } from './output.ts'
import { shortError } from './pool-text.ts'

const EXAMPLES = `Examples:
  $ headrace why vm-17                                  in whichever pool it is
  $ headrace why vm-17 --pool vms
  $ headrace why user1234 --at 2027-02-28T14:16:00Z     a tick
  $ headrace why vm-17 --pool vms --json
`

interface WhyFlags extends ClientFlags {
  pool?: string
  at?: string
}

export function addWhy({ program, context, output }: CommandParts): void {
  const command = program
    .command('why <key>')
    .description('why a key does not run yet, and what to do about it')
    .addHelpText('before', EXAMPLES)
    .option('--pool <name>', 'its pool; looked for in all unless said')
    .option('--at <time>', 'of a tick: its time, RFC 3339; the first unless said', moment)
  addClientFlags(command, context).action(async (key: string, flags: WhyFlags, self: Command) => {
    const { pool, at, ...rest } = flags
    const found = await clientOf(rest, context).why(key, { pool, at })
    const out = output(self)
    out.result(found, () => formatWhy(found, out))
  })
}

function formatWhy(found: WhyView, output: Output): string {
  const { pool, key, state, reason, sentence, next, also, alsoIn, partition, owner } = found
  const head = escapeControls(`${pool ?? 'no pool'}  ${key}   ${state}${sinceDue(found)}`)
  const evidence = Object.entries(found.evidence).filter(([, value]) => value !== null)
  const fields: [string, string][] = [
    ['reason', `${output.bold(reason ?? 'none')}   ${sentence}`],
    ...evidence.map(([name, value]): [string, string] => [
      labelOf(name),
      name === 'lastError' ? shortError(textOf(value)) : textOf(value),
    ]),
    ...(also.length === 0 ? [] : [['also', also.join(', ')] as [string, string]]),
    ...(alsoIn.length === 0 ? [] : [['also in', alsoIn.join(', ')] as [string, string]]),
    ...(partition === null
      ? []
      : [['partition', `${partition}, owned by ${owner?.name ?? 'nobody'}`] as [string, string]]),
    ...(next === null ? [] : [['next', next] as [string, string]]),
  ]
  return `${head}\n\n${formatFields(fields.map(([name, text]) => [`  ${name}`, escapeControls(text)] as const))}`
}

/** How long it has been due, or is not yet, by the clock of the store. */
function sinceDue({ dueAt, now, state }: WhyView): string {
  if (state === 'dead') return ''
  const [due, at] = [dueAt === null ? null : parseTime(dueAt), parseTime(now)]
  if (due === null || at === null) return ''
  return due <= at ? `   due for ${formatDuration(at - due)}` : `   due in ${formatDuration(due - at)}`
}

/** A name of the document as a person reads it; that of the answer itself is taken. */
function labelOf(name: string): string {
  if (name === 'reason') return 'pause reason'
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
