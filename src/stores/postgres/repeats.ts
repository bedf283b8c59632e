// Puts of a batch that come behind the first of their entry, however many: the pure rule applies them to what the first
// left, and one statement writes what became of it. The transaction holds the locks of these entries already.
import type { Entry } from '../../pool/entry.ts'
import { type Merged, type PutAnswer, askedAt, merge } from '../../pool/merge.ts'
import { numberArray, textArray } from './arrays.ts'
import { NOTE, PUT_STEP, type PutStep } from './codes.ts'
import type { Row, Tx } from './connections.ts'
import { type Noted, type PlacedPut, type PutPool, readAnswers } from './put-batch.ts'
import { toEntry } from './rows.ts'

/** How the answers of a request are kept: its scope is the pool. */
export interface Claimed {
  id: string
  fingerprint: string
  attempt: string
  keepMs: number
}

/** A put and what it did. */
interface Came {
  nth: number
  step: PutStep
  answer: PutAnswer
}

/** In mode one: reads the entries, folds, and writes them with the answers of this round. */
export async function foldRepeats(
  tx: Tx,
  pool: PutPool,
  claimed: Claimed,
  placed: readonly PlacedPut[],
): Promise<Noted> {
  const keys = [...new Set(placed.map(({ put }) => put.key))]
  const rows = await tx.query('repeated_entries', [pool.id, textArray(keys)])
  const now = rows[0]?.['now'] as number
  const found = new Map(
    rows.map((row) => [row['key'] as string, { entry: toEntry(row), restsUntil: restOf(row) }]),
  )
  const came = placed.map(({ put, nth }): Came => {
    const known = found.get(put.key) as { entry: Entry; restsUntil: number }
    const { entry, restsUntil } = known
    const { lane, mode } = pool
    const context = {
      mode,
      now,
      partition: entry.partition,
      lane,
      fired: false,
      restsUntil,
      newTurn: () => NEW,
    }
    const merged = merge(entry, put, context)
    known.entry = merged.entry ?? entry
    return { nth, step: stepOf(merged), answer: merged.answer }
  })
  await tx.query('write_repeated', [pool.id, ...columnsOf([...found.values()].map(({ entry }) => entry))])
  return note(tx, pool, claimed, { now, round: 1, came })
}

/**
 * In mode each a slot that exists is kept, so that only the first put of each slot is put, by `putFirsts`, and the others are
 * kept. A put without a time of its own has one now.
 */
export async function keepRepeats(
  tx: Tx,
  pool: PutPool,
  claimed: Claimed,
  { placed, putFirsts }: { placed: readonly PlacedPut[]; putFirsts: (firsts: PlacedPut[]) => Promise<Row> },
): Promise<Noted[]> {
  const [clock] = await tx.query('read_clock', [pool.id])
  const now = clock?.['now'] as number
  const firsts = new Map<string, PlacedPut>()
  const repeats: { nth: number; first: number }[] = []
  for (const { put, nth } of placed) {
    const { inMs: _, ...timed } = { ...put, at: askedAt(put, now) }
    const name = `${put.key}\0${timed.at}`
    const first = firsts.get(name)
    if (first === undefined) firsts.set(name, { put: timed, nth })
    else repeats.push({ nth, first: first.nth })
  }
  const row = (await putFirsts([...firsts.values()])) as unknown as Noted
  const answers: PutAnswer[] = []
  readAnswers(answers, [], row)
  const came = repeats.map(({ nth, first }): Came => {
    const { dueAt, tally } = answers[first] as PutAnswer
    const step = tally === 0 ? PUT_STEP.keptFired : PUT_STEP.kept
    return { nth, step, answer: { result: 'kept', dueAt, tally } }
  })
  return came.length === 0 ? [row] : [row, await note(tx, pool, claimed, { now, round: 2, came })]
}

/** Stands for a turn that the server gives. */
const NEW = -1

function restOf(row: Row): number {
  return (row['throttle_ms'] as number) > 0 ? ((row['until'] as number | null) ?? 0) : 0
}

function stepOf({ answer: { result }, into }: Merged): PutStep {
  if (result === 'kept') return PUT_STEP.kept
  if (into === 'after') return result === 'replaced' ? PUT_STEP.replacedAfter : PUT_STEP.mergedAfter
  return result === 'replaced' ? PUT_STEP.replaced : PUT_STEP.merged
}

function columnsOf(entries: readonly Entry[]): unknown[] {
  return [
    textArray(entries.map(({ key }) => key)),
    entries.map(({ turn }) => turn === NEW),
    numberArray(entries.map(({ next }) => next.dueAt)),
    numberArray(entries.map(({ next }) => next.tally)),
    textArray(entries.map(({ next }) => next.payload)),
    numberArray(entries.map(({ next }) => next.since ?? null)),
    numberArray(entries.map(({ after }) => after?.dueAt ?? null)),
    numberArray(entries.map(({ after }) => after?.tally ?? null)),
    textArray(entries.map(({ after }) => after?.payload ?? null)),
    numberArray(entries.map(({ after }) => after?.since ?? null)),
    numberArray(entries.map(({ putAt }) => putAt)),
  ]
}

async function note(
  tx: Tx,
  pool: PutPool,
  { id, fingerprint, attempt, keepMs }: Claimed,
  { now, round, came }: { now: number; round: number; came: readonly Came[] },
): Promise<Noted> {
  const noted = {
    now,
    notes: came.map(({ nth, step }) => nth * NOTE.place + step),
    numbers: came.map(({ answer }) => answer.dueAt),
    tallies: came.map(({ answer }) => answer.tally),
  }
  const columns = [noted.notes, noted.numbers, noted.tallies].map((numbers) => numberArray(numbers))
  await tx.query('note_round', [pool.id, id, round, fingerprint, attempt, keepMs, now, ...columns])
  return noted
}
