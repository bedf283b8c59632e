// SIGTERM under load: the server drains. Then a second life shows what the first one kept.
import { Load, type PostRecord } from './load.ts'
import { type Ended, ServerProcess } from './server-process.ts'
import { nameOf } from './check-ticks.ts'
import { until } from './until.ts'
import { type Verdict, Witness } from './witness.ts'

export interface TerminatedUnderLoad extends Verdict {
  seed: number
  /** How each life ended. */
  ends: (Ended & { tookMs: number; inFlight: number })[]
  /** Requests that were never answered, though they came in time. */
  cut: string[]
  /** How many were never answered as they came too late. */
  late: number
}

/**
 * A draining server closes a connection on which nothing came for this long. From the first moment of the drain
 * every answer says `connection: close`, and the load sends nothing after it. So the one request that may meet a
 * closed socket is one sent at least this long after the signal, on a connection that was silent all the while.
 */
const SILENCE_MS = 300

const CONNECTIONS = 100

export async function terminateUnderLoad(
  times: number,
  progress: (text: string) => void = () => undefined,
): Promise<TerminatedUnderLoad> {
  await using witness = await Witness.create()
  const ends: TerminatedUnderLoad['ends'] = []
  const unanswered: Unanswered = { cut: [], late: 0 }
  for (let life = 0; life < times; life++) {
    const first = witness.history.length
    const { signalledAt, ...end } = await terminateOnce(witness)
    ends.push(end)
    const { cut, late } = unansweredOf(witness.history.slice(first), signalledAt)
    unanswered.cut.push(...cut)
    unanswered.late += late
    progress(`SIGTERM ${life + 1} of ${times}: exit code ${end.code} after ${end.tookMs} ms`)
  }
  await using last = await ServerProcess.start({ file: witness.file })
  const verdict = await witness.judge(last)
  return { ...verdict, seed: witness.seed, ends, ...unanswered }
}

type TerminatedOnce = TerminatedUnderLoad['ends'][number] & { signalledAt: number }

async function terminateOnce(witness: Witness): Promise<TerminatedOnce> {
  await using server = await ServerProcess.start({ file: witness.file })
  const { history, next } = witness
  const first = history.length
  const load = new Load({ port: server.port, connections: CONNECTIONS, next, history })
  const answered = (): boolean => history.length - first > 2 * CONNECTIONS && load.inFlight > CONNECTIONS / 2
  await until('the load is under way', answered, 30_000)
  const stopAt = performance.now() + witness.random.next() * 300
  await until('it is time', () => performance.now() >= stopAt, 30_000)
  const { inFlight } = load
  const signalledAt = performance.now()
  // The load goes on as clients do: until it is told that the connection closes.
  const [ended] = await Promise.all([server.terminate(), load.closed()])
  return { ...ended, inFlight, signalledAt }
}

type Unanswered = Pick<TerminatedUnderLoad, 'cut' | 'late'>

/** The posts of one life that got no answer, whatever the store knows of them. */
export function unansweredOf(posts: readonly PostRecord[], signalledAt: number): Unanswered {
  const unanswered = posts.filter(({ answeredAt }) => answeredAt === null)
  const inTime = unanswered.filter(({ sentAt }) => sentAt < signalledAt + SILENCE_MS)
  return { cut: inTime.map(nameOf), late: unanswered.length - inTime.length }
}
