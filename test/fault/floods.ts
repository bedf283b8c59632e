// Requests that exhaust a server that does not bound them: each flood sends all of its own, and answers how many came back.
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'

const CONNECTION_WITHIN_MS = 120_000
const AT_ONCE = 16

export interface Flood {
  name: string
  /** `part` of the full size, from above 0 to 1. */
  send(url: string, part: number): Promise<string>
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setTimeout(CONNECTION_WITHIN_MS, () => socket.destroy())
  // A server may close a connection that asks too much.
  socket.on('error', () => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Pipelines so many requests on one connection; answers how many answers came. */
async function pipeline(url: string, count: number): Promise<number> {
  const socket = await open(url)
  let answers = 0
  let rest = ''
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.setEncoding('latin1').on('data', (text: string) => {
    const parts = (rest + text).split('HTTP/1.1 ')
    answers += parts.length - 1
    rest = (parts.at(-1) ?? '').slice(-8)
    if (answers >= count) socket.destroy()
  })
  const request = 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
  for (let sent = 0; sent < count && !socket.destroyed; sent += 1000) {
    const isFull = !socket.write(request.repeat(Math.min(1000, count - sent)))
    if (isFull) await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
  }
  await closed
  return answers
}

async function post(url: string, path: string, body: unknown, method = 'POST'): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(url + path, { method, headers, body: JSON.stringify(body) })
}

/** Makes so many calls, some at once; answers how often each status came. */
async function many(count: number, call: (nth: number) => Promise<Response>): Promise<string> {
  const statuses = new Map<string, number>()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      next += 1
      const status = await call(next).then(
        async (response) => (await response.arrayBuffer(), String(response.status)),
        () => 'cut',
      )
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, work))
  return [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')
}

/** A body of so many chunks of one byte. */
async function sendChunks(url: string, count: number): Promise<string> {
  const socket = await open(url)
  const head = 'POST /v1/pools/load/entries HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
  socket.write(`${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`)
  let answer = ''
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text))
  socket.write(`1\r\n"\r\n${'1\r\nx\r\n'.repeat(count)}1\r\n"\r\n0\r\n\r\n`)
  await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return answer.slice(0, 'HTTP/1.1 200'.length) || 'closed'
}

async function heartbeat(url: string, length: number): Promise<string> {
  const joined = await post(url, '/v1/shares/flooded/collectors', {})
  const { id } = (await joined.json()) as { id?: string }
  const text = '1@1,'.repeat(length / 4) + '1@1'
  return many(1, () => post(url, `/v1/shares/flooded/collectors/${id}/heartbeat`, { release: text }))
}

export const FLOODS: Flood[] = [
  {
    name: '100,000 pipelined GET /readyz on one connection',
    send: async (url, part) => `${await pipeline(url, 100_000 * part)} answers`,
  },
  {
    name: '100,000 pipelined GET /readyz on ten connections',
    send: async (url, part) => {
      const all = await Promise.all(Array.from({ length: 10 }, () => pipeline(url, 10_000 * part)))
      return `${all.reduce((sum, answers) => sum + answers, 0)} answers`
    },
  },
  // Before there are as many shares as there may be.
  { name: 'a release of 1 MB', send: (url, part) => heartbeat(url, 1_000_000 * part) },
  {
    name: 'collectors of 1,000 new shares of 1,024 residues',
    send: (url, part) =>
      many(1000 * part, (nth) => post(url, `/v1/shares/new${nth}/collectors`, { partitions: 1024 })),
  },
  {
    name: 'ten lists with one key 10,000 times',
    send: async (url, part) => {
      await post(url, '/v1/pools/listed', {}, 'PUT')
      const list = Array.from({ length: 10_000 * part }, () => ({ key: 'same' }))
      return many(10, () => post(url, '/v1/pools/listed/entries', list))
    },
  },
  { name: 'a body of 1 MiB in chunks of one byte', send: (url, part) => sendChunks(url, 1_048_000 * part) },
]
