// One more member comes and goes: how many partitions move, by the allotments.
import type { Allotted, Crew } from './crew.ts'

export interface AddedMember {
  /** Partitions that changed hands when it came. */
  movedToIt: number
  /** Partitions that changed hands when it went: its own, and others. */
  movedFromIt: number
  movedBeside: number
  /** Moves that the table counts, over both. */
  moves: number
}

export async function addMember(crew: Crew): Promise<AddedMember> {
  const before = await crew.allotments()
  const newcomer = await crew.start()
  await crew.settled()
  const during = await crew.allotments()
  await crew.terminate(newcomer)
  await crew.settled()
  const after = await crew.allotments()
  const moved = movedBetween(during, after)
  return {
    movedToIt: movedBetween(before, during).length,
    movedFromIt: moved.filter(({ name }) => name === newcomer.name).length,
    movedBeside: moved.filter(({ name }) => name !== newcomer.name).length,
    moves: movesOf(after) - movesOf(before),
  }
}

/** Those of the first that have another owner in the second. */
function movedBetween(first: readonly Allotted[], second: readonly Allotted[]): Allotted[] {
  return first.filter(({ owner }, index) => second[index]?.owner !== owner)
}

export function movesOf(allotments: readonly Allotted[]): number {
  return allotments.reduce((sum, { moves }) => sum + moves, 0)
}
