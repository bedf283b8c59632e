// Checks the promises on the recorded history of one pool: what each call must be answered is computed, by the clock that
// stood outside of the store, with the model of history-model.ts.
import type { LogEvent } from '../log/store.ts'
import { type Entry, type TakenRun, entryName } from '../pool/entry.ts'
import type { PutAnswer } from '../pool/merge.ts'
import type { Settlement } from '../pool/settle.ts'
import type {
  CancelAnswer,
  Mark,
  MarkAnswer,
  PoolSettings,
  Reschedule,
  RescheduleAnswer,
  SettleAnswer,
} from '../pool/store.ts'
import { type DeadCall, DeathsCheck } from './check-deaths.ts'
import {
  type AskedPut,
  type Expected,
  type ModelEntry,
  ModelRests,
  expectPut,
  modelMark,
  modelMove,
  modelPut,
  modelRedrive,
  notPast,
  planEntry,
  show,
  tallyOf,
  wrongWithTake,
  wrongWithTick,
} from './history-model.ts'
import type { HistoryRecord } from './history.ts'

/** A tick that became an event. */
export interface MovedTick {
  id: string
  dueAt: number
  /** The store's time, as seen from outside. */
  movedAt: number
}

export class PoolCheck {
  readonly violations: string[] = []
  readonly moved = new Map<HistoryRecord, MovedTick[]>()
  /** What the last open that named it said. */
  rememberMs = 0
  readonly rests = new ModelRests()
  /** Turns of before the store went back are lower: what is merged into their entries renews them. [G6] */
  leastTurn = 0
  readonly #settings: PoolSettings
  readonly #entries = new Map<string, ModelEntry>()
  /** The names of the entries of each key. */
  readonly #names = new Map<string, Set<string>>()
  /** Turns that were settled, and what they were of. */
  readonly #settled = new Set<string>()
  /** The turns and tallies that takes answered; a turn may be taken again with a tally that has grown. */
  readonly #taken = new Set<string>()
  readonly #deaths = new DeathsCheck()
  readonly #firedUntil = new Map<string, number>()
  /** The latest time that the clock has shown; it may have been set back since. */
  #latest = -Infinity

  constructor(settings: PoolSettings) {
    this.#settings = settings
  }

  replay(record: Exclude<HistoryRecord, { call: 'open' | 'went-back' }>): void {
    this.#latest = Math.max(this.#latest, record.now)
    switch (record.call) {
      case 'put':
        record.requests.forEach(({ puts }, index) => {
          const response = record.responses[index]
          if (response?.kind !== 'answered' || response.replayed) return
          puts.forEach((put, nth) => this.#put(put, record.now, response.answers[nth] as PutAnswer))
        })
        return
      case 'cancel':
        return this.#cancel(record.name, record.answer)
      case 'reschedule':
        return this.#reschedule(record.change, record.answer, record.now)
      case 'redrive':
      case 'remove':
        return this.#dead(record, record.now)
      case 'take':
        if (record.taken.now !== record.now)
          this.#say('D1', `a take tells ${record.taken.now}, and it is ${record.now}`)
        return record.taken.runs.forEach((run) => this.#take(run, record.now))
      case 'settle':
        return record.settlements.forEach((settlement, index) =>
          this.#settle(settlement, record.answers[index] as SettleAnswer, record.now),
        )
      case 'mark':
        return record.marks.forEach((mark, nth) => this.#mark(mark, record.answers[nth] as MarkAnswer))
      case 'move':
        this.moved.set(
          record,
          record.events.flatMap((event) => this.#moved(event, record.now)),
        )
    }
  }

  finish(entries: readonly Entry[]): void {
    const held = new Map(entries.map((entry) => [entryName(entry.key, entry.slot), entry]))
    for (const [name, model] of this.#entries) {
      const entry = held.get(name)
      const tally = entry === undefined ? 0 : entry.next.tally + (entry.after?.tally ?? 0)
      if (entry === undefined && tallyOf(model) > 0) {
        this.#say('P1', `${tallyOf(model)} answered puts of ${show(name)} are lost`)
      } else if (tally !== tallyOf(model)) {
        this.#say('P4', `${show(name)} holds a tally of ${tally}, and ${tallyOf(model)} puts wait`)
      } else if (entry !== undefined && !model.dead && entry.next.dueAt !== model.next.dueAt) {
        this.#say('P1', `${show(name)} waits for ${entry.next.dueAt}, and is due at ${model.next.dueAt}`)
      }
    }
    for (const name of held.keys())
      if (!this.#entries.has(name)) this.#say('P4', `${show(name)} is there, and all its puts were settled`)
  }

  #put(asked: AskedPut, now: number, answer: PutAnswer): void {
    const { mode } = this.#settings
    const at = asked.inMs === undefined ? (asked.at ?? now) : now + asked.inMs
    const name = entryName(asked.key, mode === 'each' ? at : null)
    const put = { ...asked, at, mode, now, restsUntil: this.rests.of(name) }
    const entry = this.#entries.get(name)
    const isThere = entry !== undefined && !entry.dead
    const isKept = !isThere && this.#isFired(name, now, answer.result === 'kept')
    const dueAt = notPast(at, now)
    const expected: Expected = isKept
      ? { rule: 'T5', result: 'kept', dueAt, tally: 0 }
      : expectPut(entry, put)
    this.#compare(`a put of ${show(name)}`, answer, expected)
    if (expected.result === 'created') this.#remember(put.key, name, planEntry(expected, put))
    else if (isThere && expected.result !== 'kept') {
      modelPut(entry, put, expected)
      if (entry.turn !== null && entry.turn < this.leastTurn) entry.turn = null
    }
  }

  /** Whether a slot has fired and is remembered; when a clock that was set back has shown its end, the store says. */
  #isFired(name: string, now: number, saysStore: boolean): boolean {
    const until = this.#firedUntil.get(name) ?? -Infinity
    if (this.rememberMs === 0 || until <= now) return false
    return until > this.#latest || saysStore
  }

  #compare(what: string, answer: PutAnswer, expected: Expected): void {
    const [is, should] = [answer, expected].map(
      ({ result, dueAt, tally }) => `${result}, due at ${dueAt}, with tally ${tally}`,
    )
    if (is !== should) this.#say(expected.rule, `${what} was answered ${is}, and is ${should}`)
  }

  #reschedule({ key, slot, at }: Reschedule, answer: RescheduleAnswer, now: number): void {
    const name = entryName(key, slot)
    const entry = this.#entries.get(name)
    if (answer.kind === 'absent' && entry !== undefined) this.#say('P4', `${show(name)} vanished`)
    if (answer.kind !== 'absent' && entry === undefined)
      return this.#say('C2', `${show(name)} was moved, and is not there`)
    if (answer.kind === 'absent' || entry === undefined) return
    const { mode } = this.#settings
    const isFired = mode === 'each' && this.#isFired(entryName(key, at), now, answer.kind === 'due')
    const isDue = !entry.dead && entry.next.dueAt <= now
    if (answer.kind === 'due') {
      if (!isDue && !isFired) this.#say('C2', `${show(name)} was left as too late, and is not due`)
      return
    }
    const there = mode === 'each' && at !== slot ? this.#entries.get(entryName(key, at)) : undefined
    const isTaken = there !== undefined && !there.dead
    if (answer.kind === 'exists') {
      if (!isTaken) this.#say('C2', `${show(name)} was not moved, and the slot ${at} is free`)
      return
    }
    if (isTaken) this.#say('P1', `${show(name)} was moved onto the slot ${at}, which is taken`)
    if (isDue) this.#say('P1', `${show(name)} was put off by a reschedule, and was due`)
    const to = { at, now, restsUntil: this.rests.of(name) }
    if (mode === 'one' && !entry.dead)
      return this.#compare(`a move of ${show(name)}`, answer.answer, modelMove(entry, to))
    this.#forget(key, name)
    if (answer.answer.result === 'kept' && !this.#entries.has(entryName(key, at)))
      return this.#say('P1', `${show(name)} was moved to a slot that runs no more, and is lost`)
    this.#put({ key, at, onConflict: 'earliest' }, now, answer.answer)
  }

  #take(run: TakenRun, now: number): void {
    const name = entryName(run.key, run.slot)
    const entry = this.#entries.get(name)
    if (run.dueAt > now) this.#say('P2', `${show(name)} was taken ${run.dueAt - now} ms before its dueAt`)
    if (this.#settled.has(`${name}\0${run.turn}`))
      this.#say('P3', `turn ${run.turn} of ${show(name)} was taken after it had settled`)
    if (entry === undefined || entry.dead) return this.#say('P4', `${show(name)} was taken, and has no puts`)
    for (const { rule, what } of wrongWithTake(run, entry, now)) this.#say(rule, `${show(name)} ${what}`)
    entry.turn = run.turn
    this.#taken.add(`${name}\0${run.turn}\0${run.seen}`)
  }

  #settle(settlement: Settlement, answer: SettleAnswer, now: number): void {
    const { key, slot, turn } = settlement
    const name = entryName(key, slot)
    const entry = this.#entries.get(name)
    const isCurrent = entry !== undefined && entry.turn === turn
    // By a fence that is another's, which whoever checks fences looks after.
    if (answer.result === 'refused') return
    if (answer.result === 'gone') {
      if (isCurrent)
        this.#say('P3', `the settle of turn ${turn} of ${show(name)} was answered gone, and it is there`)
      return
    }
    const id = `${name}\0${turn}`
    if (this.#settled.has(id)) this.#say('P3', `turn ${turn} of ${show(name)} settled twice`)
    this.#settled.add(id)
    if (!isCurrent)
      return this.#say('P3', `turn ${turn} of ${show(name)} settled, and it was planned anew since`)
    const { seen } = settlement
    if (!this.#taken.has(`${id}\0${seen}`))
      this.#say('P4', `turn ${turn} of ${show(name)} settled a tally of ${seen} that no take answered`)
    if (settlement.outcome.kind === 'dead') this.#deaths.died(name)
    const isLeft = this.rests.settle(name, entry, settlement, now)
    const nextDueAt = isLeft && !entry.dead ? entry.next.dueAt : null
    if (answer.nextDueAt === null && nextDueAt !== null) {
      this.#say('P1', `the settle of ${show(name)} left nothing, and ${tallyOf(entry)} puts wait`)
    } else if (answer.nextDueAt !== nextDueAt) {
      this.#say('S9', `the settle of ${show(name)} tells ${answer.nextDueAt}, and it is due at ${nextDueAt}`)
    }
    if (!isLeft) this.#forget(key, name)
  }

  #mark(mark: Mark, answer: MarkAnswer): void {
    const name = entryName(mark.key, mark.slot)
    for (const { rule, what } of modelMark(this.#entries.get(name), mark, answer))
      this.#say(rule, `the mark of turn ${mark.turn} of ${show(name)} ${what}`)
  }

  #cancel({ key, slot }: { key: string; slot?: number | null }, answer: CancelAnswer): void {
    const names = slot === undefined ? [...(this.#names.get(key) ?? [])] : [entryName(key, slot)]
    const there = names.filter((name) => this.#entries.has(name))
    const removed = answer.cancelled + answer.due
    if (there.length !== removed)
      this.#say('P4', `a cancel of ${show(key)} removed ${removed} entries, and ${there.length} are there`)
    for (const name of there) this.#forget(key, name)
    this.rests.forget(there)
  }

  #dead(record: DeadCall, now: number): void {
    const isDead = (name: string): boolean => this.#entries.get(name)?.dead === true
    const { changed, violations } = this.#deaths.judge(record, isDead)
    this.violations.push(...violations)
    for (const { key, name } of changed) {
      const entry = this.#entries.get(name)
      if (record.call === 'remove') this.#forget(key, name)
      else if (entry !== undefined) modelRedrive(entry, now)
    }
    if (record.call === 'remove') this.rests.forget(changed.map(({ name }) => name))
  }

  /** `now` is the clock's when it moved: the event's own time is the mover's word. */
  #moved(event: LogEvent, now: number): MovedTick[] {
    const [{ id }, { mode }] = [event, this.#settings]
    const at = Date.parse(String((JSON.parse(event.value) as { at?: unknown }).at))
    const name = entryName(event.key, mode === 'each' ? at : null)
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.dead) {
      this.#say('P3', `the tick ${id} moved twice, or was never put`)
      return []
    }
    const { dueAt, tally } = entry.next
    for (const { rule, what } of wrongWithTick(event, { dueAt, mode, now })) this.#say(rule, what)
    if (!this.rests.settle(name, entry, { seen: tally, outcome: { kind: 'done' } }, now))
      this.#forget(event.key, name)
    if (mode === 'each' && this.rememberMs > 0) this.#firedUntil.set(name, now + this.rememberMs)
    return [{ id, dueAt, movedAt: now }]
  }

  #remember(key: string, name: string, entry: ModelEntry): void {
    this.#entries.set(name, entry)
    const names = this.#names.get(key) ?? new Set()
    this.#names.set(key, names.add(name))
  }

  #forget(key: string, name: string): void {
    this.#entries.delete(name)
    this.#names.get(key)?.delete(name)
  }

  #say(rule: string, what: string): void {
    this.violations.push(`[${rule}] ${what}`)
  }
}
