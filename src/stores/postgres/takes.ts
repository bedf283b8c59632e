// What is due: a read whose answer comes in columns, a row for each partition, or where payloads are long a row for each run.
import type { TakenRun } from '../../pool/entry.ts'
import type { Taken, TakeRequest } from '../../pool/store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import { type KnownPool, READ } from './pools.ts'
import { SEPARATOR } from './put-batch.ts'
import { NO_SLOT, fromSlotColumn, laneColumn, toRun } from './rows.ts'

const TAKE: Call = { ...READ, hasOnePlan: true }
/** The longest payload that stands in a column: those of a partition are one text, and of a limit no more than 160 MB. */
const LONGEST = 8192
/** How many takes of a pool that has longer ones read rows before columns are tried again. */
const TAKES_BY_ROW = 100
/** What is read of a partition beyond its share: more of one are seldom among the first of all. */
const SPREAD = 4
const LEAST_MORE = 8

/** What few runs of a take have: turn, group, attempt, crashes, and whether its payload is too long. */
type Rare = readonly [number, string | null, number, number | null, boolean | null]

export class PostgresTakes {
  readonly #connections: Connections
  /** How many takes of each pool are yet to read rows. */
  readonly #byRow = new Map<number, number>()

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async take(pool: KnownPool, { partitions, lane, from, limit }: TakeRequest): Promise<Taken> {
    const all = partitions ?? Array.from({ length: pool.partitions }, (_, partition) => partition)
    const share = limit / Math.max(1, all.length)
    const each = Math.min(limit, Math.ceil(share + SPREAD * Math.sqrt(share)) + LEAST_MORE)
    const values = [pool.id, numberArray(all), laneColumn(lane), from, limit, each]
    const keepsAll = pool.payloads === 'all'
    const rows = keepsAll ? null : await this.#columns(pool, values)
    return rows === null ? this.#rows(values, keepsAll) : takenOf(rows, rows.flatMap(runsOf))
  }

  /** Null: payloads are too long, or were lately. */
  async #columns({ id }: KnownPool, values: readonly unknown[]): Promise<Row[] | null> {
    const byRow = this.#byRow.get(id) ?? 0
    if (byRow > 0) {
      this.#byRow.set(id, byRow - 1)
      return null
    }
    const rows = await this.#connections.query('take', [...values, NO_SLOT, LONGEST], TAKE)
    if (!rows.some((row) => rareOf(row).some(([, , , , isLong]) => isLong === true))) return rows
    this.#byRow.set(id, TAKES_BY_ROW)
    return null
  }

  async #rows(values: readonly unknown[], keepsAll: boolean): Promise<Taken> {
    const rows = await this.#connections.query('take_rows', [...values, keepsAll], TAKE)
    return takenOf(rows, rows.filter((row) => row['key'] !== null).map(toRun))
  }
}

/** Each partition's are in due order; merged, so are all. */
function takenOf(rows: readonly Row[], runs: TakenRun[]): Taken {
  const nextDueAt = (rows[0]?.['next_due_at'] as number | null | undefined) ?? null
  return { now: rows[0]?.['now'] as number, runs: runs.sort((a, b) => a.dueAt - b.dueAt), nextDueAt }
}

function rareOf(row: Row): readonly Rare[] {
  return (row['rare'] as Rare[] | null) ?? []
}

/** The runs of one partition. */
function runsOf(row: Row): TakenRun[] {
  const keys = row['keys'] as string[] | null
  if (keys === null) return []
  const partition = row['partition'] as number
  const [turns, dueAts, tallies, putAts] = ['turns', 'due_ats', 'tallies', 'put_ats'].map(
    (name) => row[name] as number[],
  ) as [number[], number[], number[], number[]]
  const slots = row['slots'] as number[] | null
  const payloads = (row['payloads'] as string).split(SEPARATOR)
  const places = JSON.parse(`[${(row['places'] as string).slice(1, -1)}]`) as string[]
  const runs = keys.map((key, nth): TakenRun => {
    const payload = payloads[nth] as string
    return {
      key,
      slot: slots === null ? null : fromSlotColumn(slots[nth]),
      group: key,
      partition,
      turn: turns[nth] as number,
      dueAt: dueAts[nth] as number,
      seen: tallies[nth] as number,
      payload: payload === '' ? null : payload,
      attempt: 0,
      crashes: 0,
      putAt: putAts[nth] as number,
      place: places[nth] as string,
    }
  })
  const rare = rareOf(row)
  if (rare.length > 0) fillIn(runs, rare)
  return runs
}

function fillIn(runs: readonly TakenRun[], rare: readonly Rare[]): void {
  let nth = 0
  for (const run of runs) {
    const [turn, group, attempt, crashes] = rare[nth] ?? []
    if (turn !== run.turn) continue
    nth += 1
    run.group = group ?? run.key
    run.attempt = attempt ?? 0
    run.crashes = crashes ?? 0
  }
}
