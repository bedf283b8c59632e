// SIGTERM under load: the server drains. Then a second life shows what the first one kept.
import { Load, type PostRecord } from './load.ts'
import { type Ended, ServerProcess } from './server-process.ts'
import { readStore } from './store-file.ts'
import { nameOf } from './check-ticks.ts'
import { until } from './until.ts'
import { type Verdict, Witness } from './witness.ts'

export interface TerminatedUnderLoad extends Verdict {
  seed: number
  /** How each life ended. */
  ends: (Ended & { tookMs: number; inFlight: number })[]
  /** Requests that were read and put, yet never answered. */
  cut: string[]
}

const CONNECTIONS = 100

export async function terminateUnderLoad(
  times: number,
  progress: (text: string) => void = () => undefined,
): Promise<TerminatedUnderLoad> {
  await using witness = await Witness.create()
  const ends: TerminatedUnderLoad['ends'] = []
  for (let life = 0; life < times; life++) {
    const end = await terminateOnce(witness)
    ends.push(end)
    progress(`SIGTERM ${life + 1} of ${times}: exit code ${end.code} after ${end.tookMs} ms`)
  }
  await using last = await ServerProcess.start({ file: witness.file })
  const verdict = await witness.judge(last)
  return { ...verdict, seed: witness.seed, ends, cut: cutRequests(witness) }
}

async function terminateOnce(witness: Witness): Promise<TerminatedUnderLoad['ends'][number]> {
  await using server = await ServerProcess.start({ file: witness.file })
  const { history, next } = witness
  const first = history.length
  const load = new Load({ port: server.port, connections: CONNECTIONS, next, history })
  const answered = (): boolean => history.length - first > 2 * CONNECTIONS && load.inFlight > CONNECTIONS / 2
  await until('the load is under way', answered, 30_000)
  const stopAt = performance.now() + witness.random.next() * 300
  await until('it is time', () => performance.now() >= stopAt, 30_000)
  const { inFlight } = load
  // The load goes on as clients do: until it is told that the connection closes.
  const [ended] = await Promise.all([server.terminate(), load.closed()])
  return { ...ended, inFlight }
}

/** Unanswered posts that the store knows. */
function cutRequests({ history, file }: Witness): string[] {
  const { events, waiting } = readStore(file)
  const known = new Set([...waiting, ...events.map(({ id }) => id.replace(/^ticks\//, ''))])
  const unanswered = history.filter((post: PostRecord) => post.outcome === 'info')
  return unanswered.map(nameOf).filter((name) => known.has(name))
}
