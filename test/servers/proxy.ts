// A TCP proxy on loopback that cuts, holds or refuses connections when a test says so.
import { once } from 'node:events'
import { type Socket, connect, createServer } from 'node:net'

export interface Proxy {
  port: number
  /** Cuts the connection that next sends this text, when its answer comes; the answer is lost. Resolves at the cut. */
  cutAnswerTo(text: string): Promise<void>
  /** Lets nothing through any more, nor the end, on the connection that next sends this text; what was sent is. */
  freezeAt(text: string): Promise<void>
  /** The same for every connection that there is; new ones are let through. */
  freeze(): void
  /** Lets nothing through in either direction, or no answers, until the returned function is called. */
  hold(what?: 'answers'): () => void
  /** Cuts every connection; new ones lead to another port. */
  leadTo(port: number): void
  close(): Promise<void>
}

export async function startProxy(first: number): Promise<Proxy> {
  let target = first
  const sockets = new Set<Socket>()
  const frozen = new WeakSet<Socket>()
  let armed: { text: string; cut: () => void } | null = null
  let freezing: { text: string; done: () => void } | null = null
  let held: (() => void)[] | null = null
  let isAnswersOnly = false
  const pass = (write: () => void): void => void (held === null ? write() : held.push(write))

  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    let doomed: (() => void) | null = null
    endTogether([near, far], { sockets, frozen })
    endTogether([far, near], { sockets, frozen })
    near.on('data', (chunk) => {
      if (frozen.has(near)) return
      if (freezing !== null && chunk.includes(freezing.text)) {
        for (const socket of [near, far]) frozen.add(socket)
        far.write(chunk)
        freezing.done()
        freezing = null
        return
      }
      if (armed !== null && chunk.includes(armed.text)) {
        doomed = armed.cut
        armed = null
      }
      if (isAnswersOnly) far.write(chunk)
      else pass(() => far.write(chunk))
    })
    far.on('data', (chunk) => {
      if (frozen.has(far)) return
      if (doomed === null) return pass(() => near.write(chunk))
      near.destroy()
      far.destroy()
      doomed()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()

  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cutAnswerTo: (text) => new Promise((cut) => (armed = { text, cut })),
    freezeAt: (text) => new Promise((done) => (freezing = { text, done })),
    freeze() {
      for (const socket of sockets) frozen.add(socket)
    },
    hold(what) {
      isAnswersOnly = what === 'answers'
      const waiting: (() => void)[] = []
      held = waiting
      return () => {
        held = null
        isAnswersOnly = false
        for (const write of waiting) write()
      }
    },
    leadTo(port) {
      target = port
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The end of one is the end of the other, unless it is frozen. */
function endTogether(
  [from, to]: readonly [Socket, Socket],
  { sockets, frozen }: { sockets: Set<Socket>; frozen: WeakSet<Socket> },
): void {
  sockets.add(from)
  from.on('error', () => void (frozen.has(from) || to.destroy()))
  from.on('close', () => {
    sockets.delete(from)
    if (!frozen.has(from)) to.destroy()
  })
}
