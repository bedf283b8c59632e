// The handlers of simulated work: they take a while of their member's time, heed their signal or not, and end in every way
// that a handler can. When all is healed they are quick, and done.
import type { Clock } from '../../clock.ts'
import { type Answer, again, cancel, dead, done, retry } from '../../pool/answer.ts'
import type { Handler, Run, RunContext } from '../../pool/run.ts'
import type { Random } from '../../random.ts'
import type { JobConduct } from './job-conduct.ts'
import type { Habits } from './jobs.ts'
import type { Ending, Made } from './made.ts'
import type { RaceCounts } from './sometimes.ts'
import type { Trace } from './trace.ts'

export interface HandlersParts {
  random: Random
  races: RaceCounts
  trace: Trace
  habits: Habits
}

/** What one handler is going to do. */
interface Plan {
  ms: number
  ignores: boolean
  returns: boolean
  ending: Ending
  /** When it wants to run again. */
  againInMs: number
}

const QUICK_MS = 10
/** A poison does its harm before most members die of something else. */
const POISON_MS = 500
const AGAIN_MS = [0, 300, 4000, 3_600_000]

export class Handlers {
  readonly #parts: HandlersParts
  #isHealed = false

  constructor(parts: HandlersParts) {
    this.#parts = parts
  }

  /** From now on none is slow, and none fails. */
  heal(): void {
    this.#isHealed = true
  }

  /** The handler of one life, whose clock it waits on. */
  of(life: { name: string; clock: Clock; kill(): void }, conduct: JobConduct): Handler {
    return (run: Run, context: RunContext) => {
      const made = conduct.started(run, context)
      const plan = this.#draw()
      this.#parts.trace.note(life.name, `runs turn ${made.taken.turn} of ${run.key} for ${plan.ms} ms`)
      const end = (ending: Ending): void => {
        this.#parts.trace.note(life.name, `ends turn ${made.taken.turn} of ${run.key} with ${ending}`)
        conduct.ended(made, ending)
      }
      if (run.key === this.#parts.habits.poison && !this.#isHealed) return this.#kill(life, plan)
      if (plan.ms > 0) return this.#wait(life.clock, { made, plan, end })
      return answerOf(plan, plan.ending, end)
    }
  }

  /** It ends its process, after a while or at once. */
  async #kill(life: { clock: Clock; kill(): void }, { ms }: Plan): Promise<Answer> {
    if (ms > 0) await life.clock.sleep(Math.min(ms, POISON_MS))
    this.#parts.races['a run ended its process'] += 1
    life.kill()
    return new Promise(() => undefined)
  }

  async #wait(
    clock: Clock,
    { made, plan, end }: { made: Made; plan: Plan; end: (ending: Ending) => void },
  ): Promise<Answer> {
    const { signal } = made.context
    signal.addEventListener('abort', () => (made.abortedAt = clock.mono()))
    made.context.progress(made.taken.turn)
    await (plan.ignores ? clock.sleep(plan.ms) : clock.sleep(plan.ms, signal))
    if (signal.aborted && plan.ignores) this.#parts.races['a handler ignored its abort'] += 1
    const isHeeded = signal.aborted && !plan.ignores && !plan.returns
    return answerOf(plan, isHeeded ? 'throw' : plan.ending, end)
  }

  #draw(): Plan {
    const { random, habits } = this.#parts
    const isSlow = random.next() < (this.#isHealed ? 0.5 : habits.slow)
    const ms = isSlow ? 1 + random.below(this.#isHealed ? QUICK_MS : habits.longestMs) : 0
    return {
      ms,
      ignores: random.next() < habits.ignore,
      returns: random.next() < habits.returns,
      ending: this.#ending(),
      againInMs: random.pick(AGAIN_MS),
    }
  }

  #ending(): Ending {
    const { random, habits } = this.#parts
    let drawn = random.next()
    if (this.#isHealed) return 'done'
    for (const ending of ['throw', 'retry', 'again', 'dead', 'cancel'] as const) {
      if (drawn < habits[ending]) return ending
      drawn -= habits[ending]
    }
    return 'done'
  }
}

function answerOf({ againInMs }: Plan, ending: Ending, end: (ending: Ending) => void): Answer {
  end(ending)
  switch (ending) {
    case 'throw':
      throw new Error('a simulated failure')
    case 'again':
      return again(againInMs)
    case 'retry':
      return retry()
    case 'dead':
      return dead('given up')
    case 'cancel':
      return cancel()
    case 'done':
      return done()
  }
}
