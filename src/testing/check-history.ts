// Checks the promises [P1] to [P4], and that ticks move once and never early, on a recorded history. One pass;
// answers a sentence for every violation.
import type { LogEvent } from '../log/store.ts'
import { type Entry, type TakenRun, entryName } from '../pool/entry.ts'
import type { Put, PutAnswer } from '../pool/merge.ts'
import type { Settlement } from '../pool/settle.ts'
import type { CancelAnswer, PoolSettings, Reschedule, RescheduleAnswer, SettleAnswer } from '../pool/store.ts'
import { type ModelEntry, modelMove, modelPut, modelSettle, planEntry, tallyOf } from './history-model.ts'
import type { HistoryRecord } from './history.ts'

export interface FinalState {
  /** Every entry that each pool holds at the end. */
  entries: ReadonlyMap<string, readonly Entry[]>
}

export function checkHistory(records: readonly HistoryRecord[], final: FinalState): string[] {
  const pools = new Map<string, PoolCheck>()
  const of = (name: string): PoolCheck => {
    const pool = pools.get(name)
    if (pool === undefined) throw new Error(`the history of ${name} does not begin with its open`)
    return pool
  }
  for (const record of records) {
    if (record.call !== 'open') {
      of(record.pool).replay(record)
      continue
    }
    const { name, rememberMs } = record.settings
    const pool = pools.get(name) ?? new PoolCheck(record.settings)
    pool.rememberMs = rememberMs ?? pool.rememberMs
    pools.set(name, pool)
  }
  for (const [name, pool] of pools) pool.finish(final.entries.get(name) ?? [])
  return [...pools.values()].flatMap((pool) => pool.violations)
}

class PoolCheck {
  readonly violations: string[] = []
  /** What the last open that named it said. */
  rememberMs = 0
  readonly #settings: PoolSettings
  readonly #entries = new Map<string, ModelEntry>()
  /** The names of the entries of each key. */
  readonly #names = new Map<string, Set<string>>()
  /** Turns that were settled, and what they were of. */
  readonly #settled = new Set<string>()
  /** The turns and tallies that takes answered; a turn may be taken again with a tally that has grown. */
  readonly #taken = new Set<string>()
  readonly #firedUntil = new Map<string, number>()

  constructor(settings: PoolSettings) {
    this.#settings = settings
  }

  replay(record: Exclude<HistoryRecord, { call: 'open' }>): void {
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
      case 'take':
        return record.taken.runs.forEach((run) => this.#take(run, record.taken.now))
      case 'settle':
        return record.settlements.forEach((settlement, index) =>
          this.#settle(settlement, record.answers[index] as SettleAnswer, record.now),
        )
      case 'move':
        return record.events.forEach((event) => this.#moved(event))
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
      }
    }
    for (const name of held.keys()) {
      if (!this.#entries.has(name)) this.#say('P4', `${show(name)} is there, and all its puts were settled`)
    }
  }

  #put(put: Pick<Put, 'key' | 'at'>, now: number, answer: PutAnswer): void {
    const name = entryName(put.key, this.#settings.mode === 'each' ? (put.at ?? now) : null)
    const entry = this.#entries.get(name)
    if (answer.result === 'kept') {
      const isThere = (entry !== undefined && !entry.dead) || (this.#firedUntil.get(name) ?? 0) > now
      if (!isThere) this.#say('P1', `a put of ${show(name)} was kept, and nothing is there to keep`)
      return
    }
    if (answer.result !== 'merged' && answer.dueAt < now) {
      this.#say('P1', `a put of ${show(name)} was planned in the past`)
    }
    if (answer.result === 'created' || entry === undefined || entry.dead) {
      if (entry !== undefined && tallyOf(entry) > 0) {
        this.#say('P4', `${show(name)} was created anew, and ${tallyOf(entry)} puts of it waited`)
      }
      this.#remember(put.key, name, planEntry(answer))
      if (answer.tally !== 1) this.#say('P4', `a new ${show(name)} was answered with tally ${answer.tally}`)
      return
    }
    const dueAts = [entry.next.dueAt, entry.after?.dueAt ?? Infinity]
    const tally = modelPut(entry, { at: put.at, now }, answer)
    const isPutOff = [entry.next, entry.after].some(
      (run, nth) => (run?.dueAt ?? -Infinity) > (dueAts[nth] as number),
    )
    if (answer.result === 'merged' && isPutOff)
      this.#say('P1', `a put of ${show(name)} put off a run that was planned`)
    if (tally !== answer.tally) {
      this.#say(
        'P4',
        `a put of ${show(name)} was answered with tally ${answer.tally}, and ${tally} puts wait`,
      )
    }
  }

  #reschedule({ key, slot, at }: Reschedule, answer: RescheduleAnswer, now: number): void {
    const name = entryName(key, slot)
    const entry = this.#entries.get(name)
    if (answer.kind === 'absent' && entry !== undefined) this.#say('P4', `${show(name)} vanished`)
    if (answer.kind !== 'moved') return
    const { tally, result, dueAt } = answer.answer
    if (entry !== undefined && !entry.dead && entry.next.dueAt <= now)
      this.#say('P1', `${show(name)} was put off by a reschedule, and was due`)
    if (result !== 'kept' && dueAt < now) this.#say('P1', `${show(name)} was moved into the past`)
    if (this.#settings.mode === 'one' && entry !== undefined && !entry.dead) {
      const moved = modelMove(entry, answer.answer)
      if (tally !== moved) {
        this.#say('P4', `${show(name)} was moved with a tally of ${tally}, and ${moved} puts wait`)
      }
      return
    }
    this.#forget(key, name)
    if (result === 'kept' && !this.#entries.has(entryName(key, at))) {
      return this.#say('P1', `${show(name)} was moved to a slot that runs no more, and is lost`)
    }
    this.#put({ key, at }, now, answer.answer)
  }

  #take(run: TakenRun, now: number): void {
    const name = entryName(run.key, run.slot)
    const entry = this.#entries.get(name)
    if (run.dueAt > now) this.#say('P2', `${show(name)} was taken ${run.dueAt - now} ms before its dueAt`)
    if (this.#settled.has(`${name}\0${run.turn}`)) {
      this.#say('P3', `turn ${run.turn} of ${show(name)} was taken after it had settled`)
    }
    if (entry === undefined || entry.dead) return this.#say('P4', `${show(name)} was taken, and has no puts`)
    if (now < entry.next.lowest && entry.next.tally > 0) {
      this.#say('P1', `${show(name)} was taken ${entry.next.lowest - now} ms before any of its puts was due`)
    }
    if (run.seen !== entry.next.tally) {
      this.#say('P4', `a take of ${show(name)} saw ${run.seen}, and ${entry.next.tally} puts wait`)
    }
    entry.turn = run.turn
    this.#taken.add(`${name}\0${run.turn}\0${run.seen}`)
  }

  #settle(settlement: Settlement, answer: SettleAnswer, now: number): void {
    const { key, slot, turn } = settlement
    const name = entryName(key, slot)
    const entry = this.#entries.get(name)
    const isCurrent = entry !== undefined && entry.turn === turn
    if (answer.result === 'gone') {
      if (isCurrent)
        this.#say('P3', `the settle of turn ${turn} of ${show(name)} was refused, and it is there`)
      return
    }
    const id = `${name}\0${turn}`
    if (this.#settled.has(id)) this.#say('P3', `turn ${turn} of ${show(name)} settled twice`)
    this.#settled.add(id)
    if (!isCurrent)
      return this.#say('P3', `turn ${turn} of ${show(name)} settled, and it was planned anew since`)
    if (!this.#taken.has(`${id}\0${settlement.seen}`)) {
      this.#say(
        'P4',
        `turn ${turn} of ${show(name)} settled a tally of ${settlement.seen} that no take answered`,
      )
    }
    const isLeft = modelSettle(entry, settlement, now)
    const nextDueAt = isLeft && !entry.dead ? entry.next.dueAt : null
    if (answer.nextDueAt === null && nextDueAt !== null) {
      this.#say('P1', `the settle of ${show(name)} left nothing, and ${tallyOf(entry)} puts wait`)
    }
    if (!isLeft) this.#forget(key, name)
  }

  #cancel({ key, slot }: { key: string; slot?: number | null }, answer: CancelAnswer): void {
    const names = slot === undefined ? [...(this.#names.get(key) ?? [])] : [entryName(key, slot)]
    const there = names.filter((name) => this.#entries.has(name))
    const removed = answer.cancelled + answer.due
    if (there.length !== removed) {
      this.#say('P4', `a cancel of ${show(key)} removed ${removed} entries, and ${there.length} are there`)
    }
    for (const name of there) this.#forget(key, name)
  }

  #moved(event: LogEvent): void {
    const at = Date.parse(String((JSON.parse(event.value) as { at?: unknown }).at))
    const name = entryName(event.key, this.#settings.mode === 'each' ? at : null)
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.dead)
      return this.#say('P3', `the tick ${event.id} moved twice, or was never put`)
    const early = entry.next.dueAt - event.time
    if (early > 0) this.#say('P2', `the tick ${event.id} moved ${early} ms before its dueAt`)
    const outcome = { kind: 'done' } as const
    if (!modelSettle(entry, { seen: entry.next.tally, outcome }, event.time)) this.#forget(event.key, name)
    const isRemembered = this.#settings.mode === 'each' && this.rememberMs > 0
    if (isRemembered) this.#firedUntil.set(name, event.time + this.rememberMs)
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

function show(name: string): string {
  const [slot, key] = name.split('\0')
  return key === undefined ? name : slot === '' ? key : `${key} at ${slot}`
}
