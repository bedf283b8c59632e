// Exported as `headrace/server`: the HTTP API of a running Headrace in its own process, so that whoever works can be asked.
import '../check-floor.ts'
import { describe } from '../check.ts'
import { checkOptions, optionTable, refuseSurplus } from '../check-options.ts'
import { HeadraceError } from '../errors.ts'
import type { Headrace } from '../headrace.ts'
import { type OptionsInput, asGiven, resolveOptions } from '../options.ts'
import { Ticks } from '../pool/ticks.ts'
import { createServer } from './app.ts'
import { ownAddress } from './own-address.ts'

/** What is left out is as in the options of the race, the environment, or the defaults. */
export interface ServeOptions extends Pick<
  OptionsInput,
  'host' | 'port' | 'token' | 'behindProxy' | 'address' | 'drainWithin'
> {
  /** What `/ticks` serves; default: the pool `ticks` of the store, if there is one. */
  ticks?: Ticks | undefined
}

const SERVE = optionTable<ServeOptions>('serve', {
  host: null,
  port: null,
  token: null,
  behindProxy: null,
  address: null,
  drainWithin: null,
  ticks: null,
})

/** What `serve` answers. */
export interface Served extends AsyncDisposable {
  /** Where it answers, such as `http://127.0.0.1:7400`. */
  readonly url: string
  /** Answers what is under way, takes nothing new, and ends within `drainWithin`. The race goes on; its stop closes it, too. */
  close(): Promise<void>
}

/** Serves the HTTP API of a race; off loopback only with a token. From then on its address stands in the roster. [G5] */
export async function serve(race: Headrace, options: ServeOptions = {}): Promise<Served> {
  refuseSurplus(arguments.length, { form: 'serve(race, options)', takes: 2 })
  checkOptions(options, SERVE)
  const { ticks = null, ...given } = options
  refuseOther(ticks)
  const settings = resolveOptions({ ...asGiven(race.options), ...asGiven(given) })
  const server = createServer(race, ticks, settings)
  const url = await server.listen()
  const port = Number(new URL(url).port)
  if (race.state === 'stopping' || race.state === 'stopped') {
    await server.close()
    throw new HeadraceError('not_running', 'the race is stopped, and is not served any more')
  }
  const address = settings.address ?? ownAddress({ host: settings.host, port })
  const close = race.openServers.add(address, () => server.close())
  return { url, close, [Symbol.asyncDispose]: close }
}

/** Types do not hold callers from JavaScript. */
function refuseOther(ticks: unknown): void {
  if (ticks === null || ticks instanceof Ticks) return
  throw new HeadraceError(
    'invalid_options',
    `ticks is ${describe(ticks)}, and not what race.ticks() answers`,
    {
      remedy: "give them themselves: serve(race, { ticks: race.ticks('mails') })",
    },
  )
}
