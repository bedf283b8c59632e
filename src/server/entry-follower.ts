// One client that follows an entry by server-sent events: told how it is at first and when that has changed, looked at
// once a second, until the entry is gone. No faster than the client reads.
import type { FastifyReply } from 'fastify'
import { Outlet, keepAlive } from './outlet.ts'
import { EVERY_ANSWER, OK, problemOf, toHeadraceError } from './problem.ts'
import type { ServerContext } from './route.ts'

const LOOK_MS = 1000

/** Runs until the entry or the client goes, the server drains, or the store fails. `read` answers null once it is gone. */
export function followEntry(
  context: ServerContext,
  read: () => Promise<string | null>,
  reply: FastifyReply,
): FastifyReply {
  reply.hijack()
  const { raw: response } = reply
  response.writeHead(OK, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    ...EVERY_ANSWER,
    connection: 'close',
  })
  const outlet = new Outlet(response)
  const stop = new AbortController()
  const onEnd = (): void => stop.abort()
  const { signal } = context.drain
  signal.addEventListener('abort', onEnd, { once: true })
  response.once('close', onEnd)
  if (context.drain.draining) onEnd()
  const stopHeart = keepAlive(response, outlet, context.race.clock)
  void tell({ outlet, read, clock: context.race.clock, signal: stop.signal })
    .catch((error: unknown) =>
      outlet.write(eventOf('problem', JSON.stringify(problemOf(toHeadraceError(error))))),
    )
    .finally(() => {
      stopHeart()
      signal.removeEventListener('abort', onEnd)
      if (!outlet.closed) response.end()
    })
  return reply
}

interface Telling {
  outlet: Outlet
  read: () => Promise<string | null>
  clock: ServerContext['race']['clock']
  signal: AbortSignal
}

async function tell({ outlet, read, clock, signal }: Telling): Promise<void> {
  let last: string | null = null
  while (!signal.aborted) {
    const text = await read()
    if (text === null) return outlet.write(eventOf('gone', '{}'))
    if (text !== last) await outlet.write(eventOf('entry', text))
    last = text
    await clock.sleep(LOOK_MS, signal)
  }
}

function eventOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`
}
