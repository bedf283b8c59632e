// A server that answers each request with the next of some streams of events and then cuts the connection.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StreamServer {
  url: string
  /** What each request asked to go on after. */
  lastEventIds: (string | undefined)[]
  [Symbol.asyncDispose](): Promise<void>
}

export async function openStream(streams: readonly string[]): Promise<StreamServer> {
  const lastEventIds: (string | undefined)[] = []
  const server = createServer((request, response) => {
    const stream = streams[lastEventIds.length] ?? ''
    lastEventIds.push(request.headers['last-event-id'] as string | undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(stream, () => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastEventIds,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
