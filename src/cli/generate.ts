// headrace generate: loads a server with random ticks and shows every second what became of them.
import { type Command, Option } from 'commander'
import { HeadraceError } from '../errors.ts'
import { type GeneratorReport, runGenerator } from '../generator/generator.ts'
import type { Second } from '../generator/tally.ts'
import type { CommandParts } from './command.ts'
import { type CliContext, Ended } from './context.ts'
import { type ClientFlags, addServerFlags, clientOf, duration, integer, serverOf } from './flags.ts'
import { type Column, type Output, formatDuration, formatFields, formatTable } from './output.ts'

const EXAMPLES = `Examples:
  $ headrace generate                                 as fast as the server answers, for 30 s
  $ headrace generate --rate 4000 --window 5s         4,000 a second, due within 5 s
  $ headrace generate --at-least 10000 --json         exit code 8 if it is slower
`

/** Characters that tell the items of one run from those of another. */
const RUN_NAME = 6

interface GenerateFlags extends ClientFlags {
  ids: number
  rate?: number
  window: number
  connections: number
  duration: number
  itemsPrefix?: string
  follow: boolean
  atLeast?: number
}

export function addGenerate({ program, context, output }: CommandParts): void {
  const command = program
    .command('generate')
    .description('load a server with random ticks, one per request, and measure it')
    .addHelpText('before', EXAMPLES)
    .option('--ids <number>', 'how many different items', integer({ min: 1, max: 1e9 }), 1_000_000)
    .option('--rate <number>', 'requests a second, whatever the answers', integer({ min: 1 }))
    .addOption(
      spanFlag('--window <duration>', 'due times are uniform over it; 0: at once').default(10_000, '10s'),
    )
    .option('--connections <number>', 'keep-alive connections', integer({ min: 1, max: 10_000 }), 400)
    .addOption(spanFlag('--duration <duration>', 'how long to send').default(30_000, '30s'))
    .option(
      '--items-prefix <text>',
      'what items begin with; only their events are counted (default: one of its own for each run)',
    )
    .option('--no-follow', 'do not read the topic of the ticks')
    .option(
      '--at-least <number>',
      'fail unless so many a second are scheduled, in the mean',
      integer({ min: 1 }),
    )
  addServerFlags(command).action(async (flags: GenerateFlags, self: Command) => {
    await generate(flags, { context, output: output(self) })
  })
}

function spanFlag(flag: string, doc: string): Option {
  return new Option(flag, doc).argParser(duration)
}

async function generate(
  flags: GenerateFlags,
  { context, output }: { context: CliContext; output: Output },
): Promise<void> {
  // One ordinary request first: it explains a wrong address or token better than a thousand failures.
  await clientOf(flags, context).topics.get('ticks')
  const options = {
    ...serverOf(flags, context),
    ids: flags.ids,
    itemsPrefix: flags.itemsPrefix ?? `item-${context.clock.id().slice(0, RUN_NAME)}-`,
    rate: flags.rate ?? null,
    windowMs: flags.window,
    connections: flags.connections,
    durationMs: flags.duration,
    follow: flags.follow,
  }
  const print = (second: Second): void =>
    output.json ? output.talk(formatSecond(second)) : output.line(second, () => formatSecond(second))
  const { signal, clock } = context
  const report = await runGenerator(options, { onSecond: print, signal, clock })
  output.result(report, () => `\n${formatReport(report, output)}`)
  signal.throwIfAborted()
  judge(report, flags.atLeast ?? null)
}

function judge({ totals, answers, rates }: GeneratorReport, atLeast: number | null): void {
  if (totals.generated > 0 && totals.scheduled === 0) {
    const seen = Object.keys(answers).join(', ')
    throw new HeadraceError('server_refused', `none of ${totals.generated} ticks was accepted: ${seen}`, {
      remedy: 'see what the server says to one: headrace tick add item-1 --in 10s',
    })
  }
  if (atLeast !== null && (rates.scheduled?.mean ?? 0) < atLeast) throw new Ended('threshold missed')
}

export function formatSecond(second: Second): string {
  const rate = (value: number): string => `${String(Math.round(value)).padStart(6)}/s`
  const late = (value: number | null): string => (value === null ? '–' : `${value} ms`)
  return [
    `generated ${rate(second.generated)}`,
    `scheduled ${rate(second.scheduled)}`,
    `consumed ${rate(second.consumed)}`,
    `lateness p50 ${late(second.latenessP50Ms)} p99 ${late(second.latenessP99Ms)}`,
    `errors ${second.errors}`,
  ].join('  ')
}

type Measure = 'generated' | 'scheduled' | 'consumed'

function formatReport(report: GeneratorReport, output: Output): string {
  const rate = (value: number | undefined): string =>
    value === undefined ? '–' : output.count(Math.round(value))
  const columns: Column<Measure>[] = [
    { title: '', text: (name) => name },
    { title: 'total', align: 'right', text: (name) => output.count(report.totals[name]) },
    { title: 'mean/s', align: 'right', text: (name) => rate(report.rates[name]?.mean) },
    { title: 'worst second', align: 'right', text: (name) => rate(report.rates[name]?.worst) },
  ]
  const rates = formatTable(columns, ['generated', 'scheduled', 'consumed'], output.dim)
  const fields: [string, string][] = [
    ['duration', formatDuration(report.durationMs)],
    ['lateness', formatQuantiles(report.latenessMs)],
    ['answers', formatQuantiles(report.answerMs)],
    ['by status', formatAnswers(report, output)],
  ]
  if (report.unanswered > 0) fields.push(['unanswered', output.count(report.unanswered)])
  if (report.behind > 0) fields.push(['behind', `${output.count(report.behind)}: add --connections`])
  if (report.totals.early > 0) fields.push(['early', output.count(report.totals.early)])
  return `${rates}\n\n${formatFields(fields)}`
}

function formatQuantiles({ p50, p99, max }: GeneratorReport['latenessMs']): string {
  const text = (ms: number | null): string => (ms === null ? '–' : `${Number(ms.toFixed(1))} ms`)
  return `p50 ${text(p50)}  p99 ${text(p99)}  max ${text(max)}`
}

function formatAnswers({ answers }: GeneratorReport, output: Output): string {
  const all = Object.entries(answers).map(([name, count]) => `${name} × ${output.count(count)}`)
  return all.length === 0 ? 'none' : all.join('   ')
}
