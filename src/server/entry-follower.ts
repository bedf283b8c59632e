// One client that follows an entry by server-sent events: told how it is at first and when that has changed, looked at
// once a second, until the entry is gone. No faster than the client reads.
import type { FastifyReply } from 'fastify'
import { Outlet } from './outlet.ts'
import { OK, problemOf, toHeadraceError } from './problem.ts'
import type { ServerContext } from './route.ts'

const LOOK_MS = 1000
/** Looks without a change until a comment shows both sides that the other lives. */
const HEARTBEAT_LOOKS = 15

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
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  const outlet = new Outlet(response)
  const stop = new AbortController()
  const onEnd = (): void => stop.abort()
  const { signal } = context.drain
  signal.addEventListener('abort', onEnd, { once: true })
  response.once('close', onEnd)
  if (context.drain.draining) onEnd()
  void tell({ outlet, read, clock: context.race.clock, signal: stop.signal })
    .catch((error: unknown) =>
      outlet.write(eventOf('problem', JSON.stringify(problemOf(toHeadraceError(error))))),
    )
    .finally(() => {
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
  for (let quiet = 0; !signal.aborted; quiet += 1) {
    const text = await read()
    if (text === null) return outlet.write(eventOf('gone', '{}'))
    if (text !== last) await outlet.write(eventOf('entry', text))
    else if (quiet % HEARTBEAT_LOOKS === 0) await outlet.write(': \n\n')
    last = text
    await clock.sleep(LOOK_MS, signal)
  }
}

function eventOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`
}
