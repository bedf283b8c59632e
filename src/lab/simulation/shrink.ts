// Makes a run that breaks a promise smaller, as long as it still breaks one: what is left is what it takes.
import type { CallFaults, Swarm } from './swarm.ts'

/** How many runs it may take. */
const MOST_RUNS = 300

export interface Shrunk {
  swarm: Swarm
  runs: number
}

export async function shrink(swarm: Swarm, isBroken: (swarm: Swarm) => Promise<boolean>): Promise<Shrunk> {
  let runs = 0
  let smallest = swarm
  const attempt = async (smaller: Swarm): Promise<boolean> => {
    if (runs >= MOST_RUNS) return false
    runs += 1
    if (!(await isBroken(smaller))) return false
    smallest = smaller
    return true
  }
  for (const fault of FAULTS) {
    if (smallest.calls[fault] > 0) await attempt({ ...smallest, calls: { ...smallest.calls, [fault]: 0 } })
  }
  await without('planned', () => smallest, attempt)
  await without('operations', () => smallest, attempt)
  for (let members = 2; members < smallest.members; members += 1) {
    if (await attempt({ ...smallest, members })) break
  }
  return { swarm: smallest, runs }
}

const FAULTS: Exclude<keyof CallFaults, 'longestDelayMs'>[] = [
  'refused',
  'cut',
  'delayed',
  'latencyMs',
  'crash',
  'stalled',
  'again',
  'point',
  'hintLost',
  'hintRepeated',
]

/** Leaves out half of them, a quarter, and so on to single ones. */
async function without(
  what: 'planned' | 'operations',
  current: () => Swarm,
  attempt: (swarm: Swarm) => Promise<boolean>,
): Promise<void> {
  for (
    let size = Math.ceil(current()[what].length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < current()[what].length;) {
      const swarm = current()
      const left = swarm[what].filter((_, nth) => nth < from || nth >= from + size)
      if (!(await attempt({ ...swarm, [what]: left }))) from += size
    }
  }
}
