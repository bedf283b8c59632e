// A real server over a memory store, on a free port, for tests of the client and the command line.
import { headrace } from '../../../src/headrace.ts'
import type { OptionsInput } from '../../../src/options.ts'
import { createServer } from '../../../src/server/app.ts'

export interface TestServer {
  url: string
  port: number
  /** Stops it; another may be opened on the same port. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function openServer(options: OptionsInput = {}): Promise<TestServer> {
  const race = await headrace({ store: 'memory:', port: 0, partitions: 4, log: 'silent', ...options })
  const ticks = race.ticks('ticks', { mode: race.options.ticksMode })
  const server = createServer(race, ticks)
  await race.start()
  const url = await server.listen()
  let closed: Promise<void> | null = null
  const close = (): Promise<void> => (closed ??= server.close().then(() => race.stop()))
  return { url, port: Number(new URL(url).port), close, [Symbol.asyncDispose]: close }
}
