// A server that answers each request with the next of some streams of events and then cuts the connection, or
// keeps it open and silent.
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StreamServer {
  url: string
  /** What each request asked to go on after. */
  lastEventIds: (string | undefined)[]
  /** Sends more on the newest connection. */
  say(text: string): void
  [Symbol.asyncDispose](): Promise<void>
}

export async function openStream(
  streams: readonly string[],
  { silent = false }: { silent?: boolean } = {},
): Promise<StreamServer> {
  const lastEventIds: (string | undefined)[] = []
  let newest: ServerResponse | null = null
  const server = createServer((request, response) => {
    const stream = streams[lastEventIds.length] ?? ''
    lastEventIds.push(request.headers['last-event-id'] as string | undefined)
    newest = response
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(stream, () => (silent ? undefined : response.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastEventIds,
    say: (text) => void newest?.write(text),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
