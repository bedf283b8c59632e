// Holds what users were answered against what the store did. Members answer users, and the store answers members: what is
// true of the one need not have come to the other. Every put has a payload of its own, by which it is known again.
import type { Clock } from '../../clock.ts'
import type { Put, PutAnswer } from '../../pool/merge.ts'
import type { RescheduleOutcome } from '../../pool/put-options.ts'
import type {
  CancelAnswer,
  Entries,
  PutRequest,
  PutResponse,
  Reschedule,
  RescheduleAnswer,
} from '../../pool/store.ts'
import type { Store } from '../../store.ts'
import type { RaceCounts } from './sometimes.ts'

/** What a put asks for. */
type Wish = Pick<Put, 'key' | 'at' | 'onConflict'>

interface AskedPut {
  wish: Wish
  /** With an id it is made again; one in a transaction comes to the store when that was committed. */
  by: 'itself' | 'id' | 'transaction'
  /** Null: there was none. */
  answer: PutAnswer | null
  committed: boolean
}

interface DonePut {
  wish: Wish
  answer: PutAnswer | null
  replayed: boolean
  /** The store went back to a state before it. */
  isUndone: boolean
}

interface Change {
  answered: number
  done: number
}

export class Answers {
  readonly #clock: Clock
  readonly #races: RaceCounts
  readonly #asked: AskedPut[] = []
  /** What came to the store, by its payload. */
  readonly #done = new Map<string, DonePut[]>()
  /** Cancels and reschedules with their answers, in words. */
  readonly #changes = new Map<string, Change>()

  constructor({ storeClock, races }: { storeClock: Clock; races: RaceCounts }) {
    this.#clock = storeClock
    this.#races = races
  }

  /** The same store, whose puts, cancels and reschedules are noted. */
  wrap(store: Store): Store {
    return { ...store, pool: { ...store.pool, entries: this.#entries(store.pool.entries) } }
  }

  #entries(entries: Entries): Entries {
    return {
      open: (settings) => entries.open(settings),
      take: (pool, request) => entries.take(pool, request),
      settle: (pool, settlements, claim) => entries.settle(pool, settlements, claim),
      mark: (pool, marks, claim) => entries.mark(pool, marks, claim),
      put: async (pool, requests) => {
        const responses = await entries.put(pool, requests)
        for (const [nth, request] of requests.entries()) this.#put(request, responses[nth])
        return responses
      },
      cancel: async (pool, name) => {
        const answer = await entries.cancel(pool, name)
        if (name.slot === undefined) this.#change(cancelIn(name.key, resultOf(answer))).done += 1
        return answer
      },
      reschedule: async (pool, change) => {
        const answer = await entries.reschedule(pool, change)
        this.#change(rescheduleIn(change, answer)).done += 1
        return answer
      },
    }
  }

  #put({ puts }: PutRequest, response: PutResponse | undefined): void {
    const { answers, replayed } = response?.kind === 'answered' ? response : { answers: [], replayed: false }
    for (const [nth, { payload = '', key, at, onConflict }] of puts.entries()) {
      const answer = answers[nth] ?? null
      const done = this.#done.get(payload) ?? []
      this.#done.set(payload, [...done, { wish: { key, at, onConflict }, answer, replayed, isUndone: false }])
      // A run that this put made due would be due now.
      const wasDue = answer?.result === 'merged' && answer.dueAt < this.#clock.now()
      if (wasDue && !replayed) this.#races['a put joined a run that is due'] += 1
    }
  }

  #change(what: string): Change {
    const change = this.#changes.get(what) ?? { answered: 0, done: 0 }
    this.#changes.set(what, change)
    return change
  }

  /** A put is about to be asked for; answers its payload. */
  ask(wish: Wish, by: AskedPut['by']): number {
    return this.#asked.push({ wish, by, answer: null, committed: false }) - 1
  }

  put(payload: number, answer: PutAnswer): void {
    const asked = this.#asked[payload]
    if (asked !== undefined) asked.answer = answer
  }

  /** The transaction that the put was accepted in was committed. */
  committed(payload: number): void {
    const asked = this.#asked[payload]
    if (asked !== undefined) asked.committed = true
  }

  /** It was folded, and one that arrived behind it was put in its place. [U6] */
  replaced(put: Put): void {
    this.#put({ puts: [put], repeat: null }, undefined)
  }

  cancelled(key: string, result: string): void {
    this.#change(cancelIn(key, result)).answered += 1
  }

  rescheduled(change: Reschedule, answer: RescheduleOutcome): void {
    this.#change(rescheduleIn(change, answer)).answered += 1
  }

  /** Takes what was done; what is answered is called when the store went back to the state of now. [G6] */
  snapshot(): () => void {
    const done = new Set([...this.#done.values()].flat())
    const committed = new Set(this.#asked.filter((asked) => asked.committed))
    return () => {
      for (const each of [...this.#done.values()].flat()) each.isUndone ||= !done.has(each)
      for (const asked of this.#asked) asked.committed &&= committed.has(asked)
    }
  }

  /** Where they do not fit. To be called at the end, when what was committed has come to the store. */
  judge(): string[] {
    const changes = [...this.#changes].filter(([, { answered, done }]) => answered > done)
    const unasked = [...this.#done.keys()].filter((payload) => this.#asked[Number(payload)] === undefined)
    return [
      ...this.#asked.flatMap((asked, payload) => wrongWith(asked, this.#done.get(String(payload)) ?? [])),
      ...unasked.map((payload) => `[P1] a put with the payload ${payload} came to the store unasked`),
      ...changes.map(
        ([what, { answered, done }]) => `${what} was answered ${answered} times, and made ${done} times`,
      ),
    ]
  }
}

function wrongWith({ wish, by, answer, committed }: AskedPut, done: readonly DonePut[]): string[] {
  const found: string[] = []
  const put = `the put of ${JSON.stringify(wish)}`
  const other = done.find((each) => !isSame(each.wish, wish))
  if (other !== undefined) found.push(`[P1] ${put} came to the store as ${JSON.stringify(other.wish)}`)
  if (answer !== null && !done.some((each) => each.answer !== null && isSame(each.answer, answer)))
    found.push(`[R1] ${put} was answered ${JSON.stringify(answer)}, and the store did no such thing`)
  const times = done.filter(({ replayed, isUndone }) => !replayed && !isUndone).length
  if (by !== 'id' && times > 1) found.push(`[R1] ${put} was asked for once, and done ${times} times`)
  if (by !== 'transaction') return found
  if (committed && times === 0) found.push(`[U2] ${put} was committed, and never came to the store`)
  if (!committed && times > 0) found.push(`[U1] ${put} was not committed, and came to the store`)
  return found
}

/** Whether two records of the same shape say the same. */
function isSame<What extends Wish | PutAnswer>(one: What, other: What): boolean {
  return (Object.keys(one) as (keyof What)[]).every((name) => one[name] === other[name])
}

function cancelIn(key: string, result: string): string {
  return `[C1] a cancel of ${key}: ${result}`
}

function rescheduleIn({ key, slot, at }: Reschedule, answer: RescheduleAnswer | RescheduleOutcome): string {
  const moved = answer.kind === 'moved' ? { ...answer.answer, dueAt: Number(answer.answer.dueAt) } : null
  return `[C2] a reschedule of ${key} from ${slot} to ${at}: ${answer.kind} ${JSON.stringify(moved)}`
}

function resultOf({ cancelled, due }: CancelAnswer): string {
  return due > 0 ? 'due' : cancelled > 0 ? 'cancelled' : 'absent'
}
