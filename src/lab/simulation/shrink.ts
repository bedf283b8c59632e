// Makes a run that breaks a promise smaller, as long as it still breaks the same one: what is left is what it takes.
import type { RunReport } from './run.ts'
import type { Swarm } from './swarm.ts'

/** How many runs it may take. */
const MOST_RUNS = 600

export interface Shrunk {
  swarm: Swarm
  runs: number
  /** The faults of calls, of hints and at points that are left, by the numbers of their draws. */
  struck: readonly number[]
}

type Ran = Pick<RunReport, 'violations' | 'struck'>

/** Null: the run breaks nothing, so there is nothing to make smaller. */
export async function shrink(swarm: Swarm, run: (swarm: Swarm) => Promise<Ran>): Promise<Shrunk | null> {
  const { violations, struck } = await run(swarm)
  const wanted = violations[0]
  if (wanted === undefined) return null
  const shrinking = new Shrinking({ swarm, struck, runs: 1 }, kindOf(wanted), run)
  await shrinking.without('operations')
  await shrinking.without('jobOperations')
  await shrinking.without('planned')
  await shrinking.fewerMembers()
  await shrinking.spare()
  await shrinking.without('operations')
  await shrinking.without('jobOperations')
  await shrinking.withoutJobs()
  return shrinking.smallest
}

/** Two violations of one kind differ in names, times and numbers alone. */
export function kindOf(violation: string): string {
  return violation.replaceAll(/[\w-]*\d[\w-]*/g, '#')
}

class Shrinking {
  smallest: Shrunk
  readonly #kind: string
  readonly #run: (swarm: Swarm) => Promise<Ran>

  constructor(smallest: Shrunk, kind: string, run: (swarm: Swarm) => Promise<Ran>) {
    this.smallest = smallest
    this.#kind = kind
    this.#run = run
  }

  async without(what: 'planned' | 'operations' | 'jobOperations'): Promise<void> {
    await this.#leaveOut<Swarm[typeof what][number]>(
      () => this.smallest.swarm[what],
      (_, left) => ({ [what]: left }),
    )
  }

  async spare(): Promise<void> {
    await this.#leaveOut(
      () => this.smallest.struck,
      (out) => ({ spared: [...this.smallest.swarm.spared, ...out] }),
    )
  }

  async fewerMembers(): Promise<void> {
    for (let members = 1; members < this.smallest.swarm.members; members += 1) {
      if (await this.#attempt({ members })) return
    }
  }

  async withoutJobs(): Promise<void> {
    if (this.smallest.swarm.jobOperations.length === 0) await this.#attempt({ jobs: null })
  }

  /** Leaves out half of them, a quarter, and so on to single ones. */
  async #leaveOut<Item>(
    current: () => readonly Item[],
    change: (out: Item[], left: Item[]) => Partial<Swarm>,
  ): Promise<void> {
    for (let size = Math.ceil(current().length / 2); size >= 1; size = half(size)) {
      for (let from = 0; from < current().length;) {
        const out = current().slice(from, from + size)
        const left = current().filter((_, nth) => nth < from || nth >= from + size)
        if (!(await this.#attempt(change(out, left)))) from += size
      }
    }
  }

  async #attempt(change: Partial<Swarm>): Promise<boolean> {
    if (this.smallest.runs >= MOST_RUNS) return false
    const swarm = { ...this.smallest.swarm, ...change }
    const { violations, struck } = await this.#run(swarm)
    const isSame = violations.some((violation) => kindOf(violation) === this.#kind)
    const runs = this.smallest.runs + 1
    this.smallest = isSame ? { swarm, struck, runs } : { ...this.smallest, runs }
    return isSame
  }
}

function half(size: number): number {
  return size === 1 ? 0 : Math.ceil(size / 2)
}
