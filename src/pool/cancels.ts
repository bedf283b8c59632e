// What a worker does about cancels: those that were asked for on its member, and those that others tell of. A run is called
// off only if its turn is gone for sure. Rule [X24] of docs/spec/work.md.
import { type Control, MOST_CANCELS } from './control.ts'
import { type CancelledName, holdsTurn } from './entry.ts'
import type { Hold } from './hold.ts'
import type { Flight } from './run.ts'
import type { Runner } from './runner.ts'
import type { Browse } from './store.ts'
import type { Suspects } from './suspects.ts'

export interface CancelsParts {
  pool: string
  browse: Pick<Browse, 'get'>
  hold: Hold
  suspects: Pick<Suspects, 'cancel'>
  runner: Pick<Runner<never>, 'abort'>
  goOn(): void
}

/** How many entries are looked at at once. */
const AT_ONCE = 10

export class Cancels {
  readonly #parts: CancelsParts
  /** The last version of the control that told of a cancel; null: none was read yet, and nothing was taken. */
  #seen: number | null = null
  /** Runs of which others tell that they were cancelled: no more than are in flight. */
  readonly #doubtful = new Set<Flight>()
  #isLooking = false
  /** The last cancels that takes under way may not have seen, each with the last take that had begun. */
  #unseen: { name: CancelledName; take: number }[] = []

  constructor(parts: CancelsParts) {
    this.#parts = parts
  }

  /**
   * A cancel is to be sent by this member: what is answered is called when it was made, and answers how many runs it met.
   * Only what was taken before is meant: its turn is gone for sure.
   */
  asked(name: CancelledName): () => number {
    const { inFlight } = this.#parts.hold
    const meant = new Set(inFlight.ofKey(name.key).filter((flight) => isOf(flight, name)))
    return () => {
      const met = inFlight.ofKey(name.key).filter((flight) => meant.has(flight) && !isAborted(flight))
      this.#cancel(name.key, meant)
      this.#keepInMind(name)
      return met.length
    }
  }

  /** What steers the pool was read: it tells of the last cancels of all members. */
  follow({ cancels = [] }: Control): void {
    const seen = this.#seen
    this.#seen = cancels.at(-1)?.version ?? seen ?? 0
    if (seen === null) return
    for (const told of cancels) {
      if (told.version <= seen) continue
      this.#told(told)
      this.#keepInMind(told)
    }
    this.#lookUp()
  }

  /** Takes have answered: what they brought of keys that were cancelled meanwhile may be gone. */
  taken(): void {
    if (this.#unseen.length === 0) return
    for (const { name } of this.#unseen) this.#told(name)
    this.#unseen = this.#unseen.filter(({ take }) => this.#parts.hold.inFlight.isUnderWay(take))
    this.#lookUp()
  }

  #keepInMind({ key, slot }: CancelledName): void {
    const take = this.#parts.hold.inFlight.lastTake
    if (take === null) return
    this.#unseen.push({ name: slot === undefined ? { key } : { key, slot }, take })
    if (this.#unseen.length > MOST_CANCELS) this.#unseen.shift()
  }

  #lookUp(): void {
    if (this.#doubtful.size > 0 && !this.#isLooking) void this.#look()
  }

  /** Its key may have been put anew since: what waits is read again, what does not is looked up. */
  #told(name: CancelledName): void {
    const { hold } = this.#parts
    const [flying, ...behind] = hold.inFlight.ofKey(name.key).filter((flight) => isOf(flight, name))
    if (flying === undefined) return
    const [first] = hold.inFlight.ofKey(name.key)
    hold.cancel(name.key, new Set(flying === first ? behind : [flying, ...behind]))
    if (flying === first && !isAborted(flying)) this.#doubtful.add(flying)
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    try {
      while (this.#doubtful.size > 0) {
        const some = [...this.#doubtful].slice(0, AT_ONCE)
        for (const flight of some) this.#doubtful.delete(flight)
        await Promise.all(some.map((flight) => this.#lookAt(flight)))
      }
    } finally {
      this.#isLooking = false
    }
  }

  /** One that cannot be looked at goes on. */
  async #lookAt(flight: Flight): Promise<void> {
    const { key, slot, turn, partition } = flight.taken
    try {
      const entry = await this.#parts.browse.get(this.#parts.pool, { key, slot })
      if (entry !== null && entry.partition === partition && holdsTurn(entry, turn)) return
    } catch {
      return
    }
    if (!flight.isAbandoned) this.#cancel(key, new Set([flight]))
  }

  #cancel(key: string, meant: ReadonlySet<Flight>): void {
    const { hold, suspects, runner } = this.#parts
    const flight = hold.cancel(key, meant)
    if (flight !== null && !suspects.cancel(flight)) runner.abort('cancel', (each) => each === flight)
    this.#parts.goOn()
  }
}

function isOf({ taken }: Flight, { slot }: CancelledName): boolean {
  return slot === undefined || taken.slot === slot
}

/** Whether its signal has fired. */
function isAborted({ context }: Flight): boolean {
  return (context?.why ?? null) !== null
}
