// headrace pool pause, resume, limits: control of a pool while it is worked on.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { LimitView, LimitsView, NewLimit, NewLimits, PausedView } from '../client/client.ts'
import { HeadraceError } from '../errors.ts'
import type { CommandParts } from './command.ts'
import { type ClientFlags, addClientFlags, clientOf, duration, integer, moment } from './flags.ts'
import { type Column, type Output, escapeControls, formatDuration, formatTable } from './output.ts'
import { examples } from './paging.ts'

export function addControlCommands(pool: Command, parts: CommandParts): void {
  addPause(pool, parts)
  addResume(pool, parts)
  addLimits(pool, parts)
}

interface PauseFlags extends ClientFlags {
  by?: string
  reason?: string
  until?: string
}

function addPause(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('pause <pool>')
    .description('let no run of a pool start, on any member; what runs goes on')
    .addHelpText(
      'before',
      examples(
        'pool pause vms',
        "pool pause vms --by ann --reason 'provider is down'",
        'pool pause vms --until 2027-02-28T15:00:00Z',
      ),
    )
    .option('--by <name>', 'who pauses it')
    .option('--reason <text>', 'why, for those who wonder')
    .option('--until <time>', 'when it ends by itself, RFC 3339; with "pool resume" unless said', moment)
  addClientFlags(command, context).action(async (name: string, flags: PauseFlags, self: Command) => {
    const { by, reason, until } = flags
    const paused = await clientOf(flags, context).pools.of(name).pause({ by, reason, until })
    output(self).result(paused, () => formatPause(name, paused))
  })
}

function addResume(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('resume <pool>')
    .description('end the pause of a pool')
    .addHelpText('before', examples('pool resume vms'))
  addClientFlags(command, context).action(async (name: string, flags: ClientFlags, self: Command) => {
    const answer = await clientOf(flags, context).pools.of(name).resume()
    output(self).result(answer, () => `${answer.resumed ? 'resumed' : 'was not paused'}  ${name}`)
  })
}

type Rate = NonNullable<NewLimit['rate']>
/** Not null, which Commander takes for no value. */
type None = 'none'

interface LimitsFlags extends ClientFlags {
  concurrency?: number | None
  rate?: Rate | None
  groupConcurrency?: number | None
  groupRate?: Rate | None
  spread?: boolean
  groupSpread?: boolean
  none?: boolean
}

function addLimits(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('limits <pool>')
    .description('show the limits of a pool, or change those that flags name; the others stay')
    .addHelpText(
      'before',
      examples(
        'pool limits vms',
        'pool limits vms --rate 50/1s --group-concurrency 5',
        'pool limits vms --rate 50/1s --spread',
        'pool limits vms --rate none',
        'pool limits vms --none',
      ),
    )
    .option('--concurrency <number>', 'runs at once in the whole pool, or none', orNone(integer({ min: 1 })))
    .option('--rate <rate>', 'starts in a span in the whole pool, such as 50/1s, or none', orNone(rate))
    .option('--spread', 'space the starts of --rate evenly, instead of all that may at once')
    .option(
      '--group-concurrency <number>',
      'runs at once of each group, or none',
      orNone(integer({ min: 1 })),
    )
    .option('--group-rate <rate>', 'starts in a span of each group, such as 10/1s, or none', orNone(rate))
    .option('--group-spread', 'space the starts of --group-rate evenly')
    .addOption(
      new Option('--none', 'lift every limit').conflicts([
        'concurrency',
        'rate',
        'groupConcurrency',
        'groupRate',
        'spread',
        'groupSpread',
      ]),
    )
  addClientFlags(command, context).action(async (name: string, flags: LimitsFlags, self: Command) => {
    const client = clientOf(flags, context).pools.of(name)
    const out = output(self)
    const change = changeOf(flags)
    if (change !== null) {
      const limits = await client.limit(change)
      return out.result(limits, () => formatLimits(limits, out))
    }
    const { limits, paused } = await client.settings()
    out.result(limits, () => formatLimits(limits, out))
    if (paused !== null) out.talk(formatPause(name, paused))
    return undefined
  })
}

/** What the flags change; null: nothing. */
function changeOf(flags: LimitsFlags): NewLimits | null {
  if (flags.none === true) return { group: null, pool: null }
  const { concurrency, groupConcurrency } = flags
  const starts = spaced(flags.rate, flags.spread, '--rate')
  const groupRate = spaced(flags.groupRate, flags.groupSpread, '--group-rate')
  const values = [concurrency, starts, groupConcurrency, groupRate]
  if (values.every((value) => value === undefined)) return null
  return {
    pool: { concurrency: lifted(concurrency), rate: lifted(starts) },
    group: { concurrency: lifted(groupConcurrency), rate: lifted(groupRate) },
  }
}

/** The rate with what its own flag says of it. */
function spaced(
  asked: Rate | None | undefined,
  spread: boolean | undefined,
  flag: string,
): Rate | None | undefined {
  if (spread !== true) return asked
  if (typeof asked === 'object') return { ...asked, spread }
  throw new HeadraceError('invalid_options', `${flag.replace('rate', 'spread')} needs a ${flag}`, {
    remedy: `give ${flag} as well, such as ${flag} 50/1s`,
  })
}

function lifted<Value>(value: Value | None): Value | null {
  return value === 'none' ? null : value
}

function orNone<Value>(read: (text: string) => Value): (text: string) => Value | None {
  return (text) => (text === 'none' ? text : read(text))
}

function rate(text: string): Rate {
  const [, count, per] = /^(\d+)\/(.+)$/.exec(text) ?? []
  if (count === undefined || per === undefined)
    throw new InvalidArgumentError('write a number, a slash and a span of time, such as 50/1s')
  // A unit alone is one of it, as in 50/s.
  return { count: Number(count), per: duration(/^[a-z]+$/.test(per) ? `1${per}` : per) }
}

function formatPause(name: string, { by, reason, since, until }: PausedView): string {
  const parts = [
    `paused  ${name}  since ${since}`,
    ...(until === null ? [] : [`until ${until}`]),
    ...(by === null ? [] : [`by ${by}`]),
    ...(reason === null ? [] : [reason]),
  ]
  return escapeControls(parts.join('  '))
}

function formatLimits({ group, pool }: LimitsView, output: Output): string {
  const columns: Column<LimitView & { of: string }>[] = [
    { title: 'limits of', text: ({ of }) => of },
    {
      title: 'concurrency',
      align: 'right',
      text: ({ concurrency }) => (concurrency === null ? '-' : output.count(concurrency)),
    },
    { title: 'rate', align: 'right', text: (limit) => formatRate(limit, output) },
  ]
  const rows = [
    { of: 'each group', ...group },
    { of: 'the pool', ...pool },
  ]
  return formatTable(columns, rows, output.dim)
}

function formatRate({ rate: asked }: LimitView, output: Output): string {
  if (asked === null) return '-'
  return `${output.count(asked.count)}/${formatDuration(asked.perMs)}${asked.spread === true ? ' spread' : ''}`
}
