// A witness from outside: notes every start and end of a handler, of all members, by one clock, and finds where more were
// under way, or started, than the limits allow.

interface Noted {
  at: number
  key: string
  group: string
  member: number
}

export interface Bounds {
  concurrency?: number
  rate?: { count: number; perMs: number }
}

export class Witness {
  readonly starts: Noted[] = []
  readonly #running = new Map<Noted, true>()
  /** The most that were under way at once, by scope: the pool, or a group. */
  readonly most = new Map<string, number>()

  start(noted: Noted): () => void {
    this.starts.push(noted)
    this.#running.set(noted, true)
    for (const scope of ['pool', noted.group]) {
      const running = [...this.#running.keys()].filter(({ group }) => scope === 'pool' || group === scope)
      this.most.set(scope, Math.max(this.most.get(scope) ?? 0, running.length))
    }
    return () => void this.#running.delete(noted)
  }

  /** A member was killed: its handlers are no more. */
  killed(member: number): void {
    for (const noted of this.#running.keys()) if (noted.member === member) this.#running.delete(noted)
  }

  /** The most that were under way at once, in the pool or in any one group. */
  mostAtOnce(scope: 'pool' | 'group'): number {
    const counts = [...this.most].filter(([name]) => (name === 'pool') === (scope === 'pool'))
    return Math.max(0, ...counts.map(([, count]) => count))
  }

  /** The most starts in any half-open span of this length, in the pool or in any one group. */
  mostStarts(scope: 'pool' | 'group', perMs: number): number {
    const groups = Map.groupBy(this.starts, ({ group }) => (scope === 'pool' ? '' : group))
    let most = 0
    for (const noted of groups.values()) {
      const times = noted.map(({ at }) => at).toSorted((a, b) => a - b)
      let first = 0
      for (const [nth, at] of times.entries()) {
        while (at - (times[first] ?? 0) >= perMs) first += 1
        most = Math.max(most, nth - first + 1)
      }
    }
    return most
  }

  /** How many started from then until then. */
  startsBetween(from: number, until: number): number {
    return this.starts.filter(({ at }) => at >= from && at < until).length
  }
}
