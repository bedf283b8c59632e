// A new user's first minute: npm start, one curl, and the tick on its topic.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once as event } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { ROOT } from '../../test/fault/server-process.ts'
import { readStore } from '../../test/fault/store-file.ts'
import { until } from '../../test/fault/until.ts'
import { Witness } from '../../test/fault/witness.ts'
import type { ProofRow } from '../row.ts'
import { once } from '../once.ts'

const USUAL_PORT = 7400
const DUE_IN_MS = 2000

interface FirstMinute {
  healthyMs: number
  /** The line that was typed, and the status and body that it got. */
  typed: string
  status: number
  answer: string
  /** By how much the event's time, and the moment it was seen, lie after `at`. */
  lateMs: number
  seenLateMs: number
}

const firstMinute = once(async ({ progress }): Promise<FirstMinute> => {
  await using witness = await Witness.create()
  const port = await freePort()
  const began = performance.now()
  const npm = start(witness.file, port)
  try {
    const healthy = (): Promise<boolean> =>
      fetch(`http://localhost:${port}/healthy`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until('/healthy answers', healthy, 60_000)
    const healthyMs = Math.round(performance.now() - began)
    progress(`healthy after ${healthyMs} ms`)
    return { healthyMs, ...(await postAndWatch(witness.file, port)) }
  } finally {
    await stop(npm)
  }
})

function start(file: string, port: number): ChildProcess {
  const env = { ...process.env, HEADRACE_STORE: `sqlite:${file}`, HEADRACE_PORT: String(port) }
  // A group of its own, so that npm and what it runs can be stopped together.
  return spawn('npm', ['start'], { cwd: ROOT, env, stdio: 'ignore', detached: true })
}

async function stop(npm: ChildProcess): Promise<void> {
  const ended = event(npm, 'exit')
  process.kill(-(npm.pid as number), 'SIGTERM')
  await ended
}

async function postAndWatch(file: string, port: number): Promise<Omit<FirstMinute, 'healthyMs'>> {
  const at = Date.now() + DUE_IN_MS
  const typed = `curl -XPOST localhost:${port}/ticks -d '{"item":"user1234","at":"${new Date(at).toISOString()}"}'`
  const { stdout } = await promisify(execFile)('sh', ['-c', `${typed} -s -w '\\n%{http_code}'`])
  const [answer = '', status] = stdout.split('\n')
  const found = () => readStore(file).events.find(({ id }) => id.startsWith('ticks/user1234/'))
  await until('the tick is on the topic', () => found() !== undefined, 30_000)
  const seenLateMs = Date.now() - at
  return { typed, status: Number(status), answer, lateMs: (found()?.time ?? 0) - at, seenLateMs }
}

/** 7400, unless something else has it. */
async function freePort(): Promise<number> {
  for (const port of [USUAL_PORT, 0]) {
    const probe = createServer().listen({ port, host: '127.0.0.1' })
    const taken = await Promise.race([
      event(probe, 'listening').then(() => false),
      event(probe, 'error').then(() => true),
    ])
    if (taken) continue
    const { port: free } = probe.address() as AddressInfo
    probe.close()
    await event(probe, 'close')
    return free
  }
  throw new Error('there is no free port')
}

export const rows: ProofRow[] = [
  {
    name: 'npm start, once set up: from the command to GET /healthy',
    bar: '≤ 2,000 ms',
    speed: true,
    async run(context) {
      const { healthyMs } = await firstMinute(context)
      return { value: `${healthyMs} ms`, holds: healthyMs <= 2000 }
    },
  },
  {
    name: 'the first curl: answered 202, on the topic at its time, never early',
    bar: '202, ≥ 0 ms late',
    async run(context) {
      const { status, answer, typed, lateMs, seenLateMs } = await firstMinute(context)
      return {
        value: `${status}, ${lateMs} ms late`,
        holds: status === 202 && lateMs >= 0 && seenLateMs >= 0 && seenLateMs < 2000,
        detail: `${typed} → ${answer}; seen on the topic ${seenLateMs} ms after its time`,
      }
    },
  },
]
