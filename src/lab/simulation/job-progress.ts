// What a worker tells of its runs, watched from outside: of those that are under way, by the right that its member has, and
// once a second at most. Rules [Z5] and [Z6] of docs/spec/work.md.
import type { Claim } from '../../fence.ts'
import type { ToldProgress } from '../../pool/store.ts'
import type { Made } from './made.ts'

const TELL_EVERY_MS = 1000

export class JobProgress {
  #toldAt = -Infinity

  /** Something is told, by a member's monotonic clock; answers what is wrong. `lastOf` is the last run of a key. */
  judge(
    told: readonly ToldProgress[],
    { held }: Claim,
    { now, lastOf }: { now: number; lastOf: (key: string) => Made | undefined },
  ): string[] {
    const [toldAt, isEarly] = [this.#toldAt, now < this.#toldAt + TELL_EVERY_MS]
    this.#toldAt = now
    const wrong = told.flatMap(({ key, turn }) => {
      const made = lastOf(key)
      const isUnderWay = made !== undefined && made.ending === null && made.taken.turn === turn
      const epoch = held.find(({ partition }) => partition === made?.taken.partition)?.epoch ?? 0
      // One that has outlived its epoch may tell under the later one of its member.
      return isUnderWay && epoch >= made.epoch ? [] : [`tells of turn ${turn} of ${key}, which does not run`]
    })
    return isEarly ? [...wrong, `tells of its runs again after ${now - toldAt} ms`] : wrong
  }
}
