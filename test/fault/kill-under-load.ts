// SIGKILL at a random moment under load, again and again on one file, then a verdict over all lives together.
import { Load } from './load.ts'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { type Verdict, Witness } from './witness.ts'

export interface Kill {
  /** Requests that were sent and not answered when the signal was sent. */
  inFlight: number
  /** Those of them that were never answered. */
  unanswered: number
}

export interface KilledUnderLoad extends Verdict {
  seed: number
  kills: Kill[]
}

const CONNECTIONS = 100
const LEAST_IN_FLIGHT = 50
/** From the first answer on; a life is long enough for commits, moves and checkpoints. */
const LONGEST_LIFE_MS = 600

export async function killUnderLoad(
  times: number,
  progress: (text: string) => void = () => undefined,
): Promise<KilledUnderLoad> {
  await using witness = await Witness.create()
  const kills: Kill[] = []
  for (let life = 0; life < times; life++) {
    kills.push(await killOnce(witness))
    const { inFlight, unanswered } = kills.at(-1) as Kill
    progress(`kill ${life + 1} of ${times}: ${inFlight} requests in flight, ${unanswered} unanswered`)
  }
  await using last = await ServerProcess.start({ file: witness.file })
  return { ...(await witness.judge(last)), seed: witness.seed, kills }
}

async function killOnce(witness: Witness): Promise<Kill> {
  await using server = await ServerProcess.start({ file: witness.file })
  const { history, next } = witness
  const first = history.length
  const load = new Load({ port: server.port, connections: CONNECTIONS, next, history })
  await until(
    'the load is answered',
    () => history.slice(first).some(({ outcome }) => outcome === 'ok'),
    30_000,
  )
  const killAt = performance.now() + witness.random.next() * LONGEST_LIFE_MS
  await until(
    'it is time, with enough in flight',
    () => performance.now() >= killAt && load.inFlight >= LEAST_IN_FLIGHT,
    30_000,
  )
  const { inFlight } = load
  const killed = server.kill()
  load.hold()
  await killed
  await load.closed()
  return { inFlight, unanswered: history.slice(first).filter(({ outcome }) => outcome === 'info').length }
}
