// The store stops under load, is away for longer than a lease, and comes back: nobody was dead, so nothing moves.
import { movesOf } from './add-member.ts'
import { type Crew, untilTime } from './crew.ts'

export interface RestartedStore {
  awayMs: number
  /** Changes of the allotments' owners, and of their epochs, up to two leases after the store is back. */
  moves: number
  epochs: number
  /** Posts that were acknowledged after that. */
  answeredAfter: number
}

export async function restartStore(
  crew: Crew,
  { awayMs, leaseMs }: { awayMs: number; leaseMs: number },
): Promise<RestartedStore> {
  const before = await crew.allotments()
  const began = performance.now()
  await crew.store.stop()
  await untilTime(performance.now() + awayMs)
  await crew.store.start()
  const backAt = performance.now()
  await untilTime(backAt + 2 * leaseMs)
  const after = await crew.allotments()
  const answered = crew.witness.history.filter(({ outcome, sentAt }) => outcome === 'ok' && sentAt > backAt)
  return {
    awayMs: Math.round(backAt - began),
    moves: movesOf(after) - movesOf(before),
    epochs: after.filter(({ epoch }, index) => before[index]?.epoch !== epoch).length,
    answeredAfter: answered.length,
  }
}
