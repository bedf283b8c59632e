// Two servers on one file, both under load, and one of them killed again and again.
import { Load } from './load.ts'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { type Verdict, Witness } from './witness.ts'

const CONNECTIONS = 50
/** The survivor's answers after a kill, to show that it goes on. */
const GO_ON_POSTS = 200

export interface SharedUnderLoad extends Verdict {
  seed: number
  /** Requests that the killed server left unanswered, per kill. */
  unansweredPerKill: number[]
  /** Requests that the survivor refused or cut. */
  survivorFailed: number
}

export async function shareFileUnderLoad(
  times: number,
  progress: (text: string) => void = () => undefined,
): Promise<SharedUnderLoad> {
  await using witness = await Witness.create()
  await using survivor = await ServerProcess.start({ file: witness.file })
  const steady = new Load({ ...loadOf(witness), port: survivor.port })
  const unansweredPerKill: number[] = []
  for (let life = 0; life < times; life++) {
    unansweredPerKill.push(await killBeside(witness))
    const from = witness.history.length
    await until('the survivor goes on', () => witness.history.length > from + GO_ON_POSTS, 30_000)
    progress(`kill ${life + 1} of ${times}: ${unansweredPerKill.at(-1)} unanswered`)
  }
  await steady.finish()
  const verdict = await witness.judge(survivor)
  const survivorFailed = verdict.refused + verdict.unanswered - unansweredPerKill.reduce((a, b) => a + b, 0)
  return { ...verdict, seed: witness.seed, unansweredPerKill, survivorFailed }
}

function loadOf({ history, next }: Witness) {
  return { connections: CONNECTIONS, history, next }
}

async function killBeside(witness: Witness): Promise<number> {
  await using server = await ServerProcess.start({ file: witness.file })
  const own = { ...loadOf(witness), history: [] as Witness['history'] }
  const load = new Load({ ...own, port: server.port })
  await until('the load is answered', () => own.history.some(({ outcome }) => outcome === 'ok'), 30_000)
  const killAt = performance.now() + witness.random.next() * 400
  await until('it is time', () => performance.now() >= killAt, 30_000)
  const killed = server.kill()
  load.hold()
  await killed
  await load.closed()
  witness.history.push(...own.history)
  return own.history.filter(({ outcome }) => outcome === 'info').length
}
