// A server of its own for one command that names a store: the same routes and the same client as with any other server, on
// a free port of loopback, with a token that nobody else knows. It takes no part in the work.
import type { Clock } from '../clock.ts'
import type { ServerAddress } from './context.ts'

export interface LocalServer extends ServerAddress {
  close(): Promise<void>
}

export interface LocalServerParts {
  clock: Clock
  /** The token of the servers on this store, by which an owner is asked why a key waits; null: one of its own. */
  token: string | null
}

export async function serveStore(
  store: string,
  { clock, token: given }: LocalServerParts,
): Promise<LocalServer> {
  // Loaded here, so that the commands which only talk to a server start without it.
  const [{ headrace }, { serve }] = await Promise.all([
    import('../headrace.ts'),
    import('../server/server.ts'),
  ])
  const token = given ?? `${clock.id()}${clock.id()}`
  const race = await headrace({ store, join: 'no', host: '127.0.0.1', port: 0, token, drainWithin: 0 })
  try {
    await race.start()
    const { url: server } = await serve(race)
    return { server, token, close: () => race.stop() }
  } catch (error) {
    await race.stop()
    throw error
  }
}
