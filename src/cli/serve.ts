// headrace serve: one process with store, ticks and HTTP API. Starts, says where it is, and drains on a signal.
import type { Command } from 'commander'
import { toIso } from '../clock.ts'
import type { TicksOptions } from '../pool-options.ts'
import type { Headrace } from '../headrace.ts'
import { OPTIONS, type OptionName, type Options, asGiven, isForLibrary } from '../options.ts'
import type { ServeOptions } from '../server/server.ts'
import { VERSION } from '../version.ts'
import type { CommandParts } from './command.ts'
import type { CliContext } from './context.ts'
import { addSchemaFlags, readSchemaFlags } from './flags.ts'
import { type Output, escapeControls, formatDuration } from './output.ts'

const FLAGS = (Object.keys(OPTIONS) as OptionName[]).filter((name) => !isForLibrary(name))

const EXAMPLES = `Examples:
  $ headrace serve                                            everything in ./.headrace/headrace.db
  $ headrace serve --store-file store.txt --no-ticks          the address from a file; pools only
  $ headrace serve --store memory: --port 7401                forget everything at the end
  $ headrace serve --port 7401 --name m2 --weight 2           a second member, with twice the share
  $ HEADRACE_TOKEN=… headrace serve --host 0.0.0.0            open to other machines, with a token
`

export function addServe({ program, context, output }: CommandParts): void {
  const command = program.command('serve').description('start a server').addHelpText('before', EXAMPLES)
  addSchemaFlags(command, FLAGS)
    .option('--no-ticks', 'make no pool and topic of ticks; /ticks answers if the store has them')
    .action(async ({ ticks, ...flags }: ServeFlags, self: Command) => {
      const options = readSchemaFlags(flags, { names: FLAGS, env: context.env })
      await serveUntilTold(options, { context, output: output(self), hasTicks: ticks })
    })
}

type ServeFlags = { ticks: boolean } & Record<string, string>

interface ServeParts {
  /** Whether it makes ticks of its own. */
  hasTicks: boolean
  context: CliContext
  output: Output
}

/** Serves until the signal fires or the store is lost, then finishes what is under way. */
async function serveUntilTold(options: Options, parts: ServeParts): Promise<void> {
  const { context, output, hasTicks } = parts
  // Loaded here, so that the commands which only talk to a server start without it.
  const [{ headrace }, { serve }] = await Promise.all([
    import('../headrace.ts'),
    import('../server/server.ts'),
  ])
  const print = (line: string): void => output.talk(line)
  // The command listens itself: a signal ends every command, not only this one.
  const race = await headrace(
    { ...asGiven(options), signals: false },
    context.faults === undefined ? { print } : { print, faults: context.faults },
  )
  // Without its store a server is of no use, and whoever looks after it starts another.
  const lost = new Promise<unknown>((resolve) => {
    race.telemetry.on('store.lost', ({ error }) => resolve(error))
  })
  try {
    const ticks = hasTicks ? race.ticks('ticks', ticksOptions(options)) : undefined
    await race.start()
    const server = await serve(race, { ...servingOf(options), ticks })
    announce({ url: server.url, options, race }, parts)
    const ending = await Promise.race([fired(context.signal), lost])
    output.talk(`draining for at most ${formatDuration(options.drainWithin)}; once more to stop at once`)
    await server.close()
    if (ending instanceof Error) throw ending
  } finally {
    await race.stop()
  }
  output.talk('stopped')
}

function servingOf({
  host,
  port,
  token,
  behindProxy,
  address,
  drainWithin,
}: Options): Omit<ServeOptions, 'ticks'> {
  return asGiven({ host, port, token, behindProxy, address, drainWithin })
}

function ticksOptions({ ticksMode: mode, ticksRemember: remember }: Options): TicksOptions {
  return remember === null ? { mode } : { mode, remember }
}

function fired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

interface Announced {
  url: string
  options: Options
  race: Headrace
}

function announce({ url, options, race }: Announced, { context, output, hasTicks }: ServeParts): void {
  const readyMs = Math.round(context.clock.mono() - context.startedAt)
  const { address: store } = race.store
  const { id, name } = race.roster
  const joined = options.join === 'yes'
  if (output.json) {
    const openapi = `${url}/openapi.json`
    output.line({ version: VERSION, url, openapi, store, readyMs, member: id, name, joined }, () => '')
  }
  const at = toIso(context.clock.now() + 10_000)
  const authorization = options.token === null ? '' : ` -H "Authorization: Bearer $HEADRACE_TOKEN"`
  const attempt = hasTicks
    ? `curl -XPOST ${url}/ticks${authorization} -d '{"item":"user1234","at":"${at}"}'`
    : `curl ${url}/v1/pools${authorization}`
  output.talk(
    [
      `  headrace ${VERSION}   ready in ${readyMs} ms`,
      '',
      `  ➜  API      ${url}/v1      OpenAPI: /openapi.json`,
      `  ➜  Store    ${store}${store === 'memory:' ? ' (forgotten at the end)' : ' (kept between runs)'}`,
      `  ➜  Member   ${escapeControls(name)} (${joined ? 'joined the roster' : 'takes requests only: --join no'})`,
      `  ➜  Try      ${attempt}`,
      '',
    ].join('\n'),
  )
}
