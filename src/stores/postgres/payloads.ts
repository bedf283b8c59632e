// The payloads of pools that keep them all: rows that change in the transaction of the put, the settle or the cancel, behind
// the statement that locks the entries.
import { HeadraceError } from '../../errors.ts'
import { payloadsFull, tooMuch } from '../../pool/payloads.ts'
import type { Settlement } from '../../pool/settle.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Row, Tx } from './connections.ts'
import type { KnownPool } from './pools.ts'
import { PUT_STEP, type PutStep } from './codes.ts'
import { type PlacedPut, SEPARATOR, readNote } from './put-batch.ts'
import { settleSteps } from './settlements.ts'

/** What puts do to the payloads of an entry: of which runs they are dropped first, and what is added. */
interface Change {
  clearsNext: boolean
  clearsAfter: boolean
  added: { after: boolean; payload: string }[]
}

/**
 * Keeps the payloads of a request, by the notes of what came of its puts, round by round; throws when an entry then holds too
 * much. Behind the last round, and all at once: of one key there may be a thousand.
 */
export async function keepPayloads(
  tx: Tx,
  pool: Pick<KnownPool, 'id' | 'name'>,
  rounds: readonly { placed: readonly PlacedPut[]; notes: readonly number[] }[],
): Promise<void> {
  const changes = changesOf(rounds)
  const all = [...changes.values()]
  const added = [...changes].flatMap(([key, change]) => change.added.map((each) => ({ key, ...each })))
  const keys = textArray([...changes.keys()])
  await tx.query('keep_payloads', [
    pool.id,
    keys,
    all.map(({ clearsNext }) => clearsNext),
    all.map(({ clearsAfter }) => clearsAfter),
    textArray(added.map(({ key }) => key)),
    added.map(({ after }) => after),
    added.map(({ payload }) => payload).join(SEPARATOR),
  ])
  for (const row of await tx.query('weigh_payloads', [pool.id, keys])) {
    const most = tooMuch({ count: Number(row['count']), bytes: Number(row['bytes']) })
    if (most !== null) throw new PayloadsFull({ pool: pool.name, key: row['key'] as string, most })
  }
}

function changesOf(
  rounds: readonly { placed: readonly PlacedPut[]; notes: readonly number[] }[],
): Map<string, Change> {
  const changes = new Map<string, Change>()
  for (const { placed, notes } of rounds) {
    const puts = new Map(placed.map(({ put, nth }) => [nth, put]))
    for (const note of notes) {
      const { nth, step } = readNote(note)
      const put = puts.get(nth)
      if (put === undefined) continue
      let change = changes.get(put.key)
      if (change === undefined)
        changes.set(put.key, (change = { clearsNext: false, clearsAfter: false, added: [] }))
      apply(change, step, put.payload)
    }
  }
  return changes
}

function apply(change: Change, step: PutStep, payload: string | undefined): void {
  const { created, recreated, replaced, kept, mergedAfter, replacedAfter, keptFired } = PUT_STEP
  if (step === kept || step === keptFired) return
  const isNew = step === created || step === recreated
  const [clearsNext, clearsAfter] = [isNew || step === replaced, isNew || step === replacedAfter]
  if (clearsNext || clearsAfter)
    change.added = change.added.filter(({ after }) => !(after ? clearsAfter : clearsNext))
  if (payload !== undefined)
    change.added.push({ after: step === mergedAfter || step === replacedAfter, payload })
  change.clearsNext ||= clearsNext
  change.clearsAfter ||= clearsAfter
}

/** Undoes the transaction that it is thrown in. */
export class PayloadsFull extends HeadraceError {
  readonly refusal: { pool: string; key: string; most: string }

  constructor(refusal: { pool: string; key: string; most: string }) {
    const { message } = payloadsFull(refusal)
    super('payloads_full', message)
    this.refusal = refusal
  }
}

export async function settleAll(
  tx: Tx,
  pool: Pick<KnownPool, 'id'>,
  { values, settlements }: { values: readonly unknown[]; settlements: readonly Settlement[] },
): Promise<Row[]> {
  const rows = await tx.query('settle', values)
  const steps = settleSteps(rows[0], settlements)
  const settled = settlements.flatMap((settlement, index) => {
    const step = steps[index]
    return typeof step === 'number' ? [{ settlement, step }] : []
  })
  await tx.query('settle_payloads', [
    pool.id,
    textArray(settled.map(({ settlement }) => settlement.key)),
    numberArray(settled.map(({ step }) => step)),
    numberArray(settled.map(({ settlement }) => settlement.seenPayloads ?? 0)),
    settled.map(({ settlement }) => settlement.outcome.kind === 'dead'),
  ])
  return rows
}

export async function cancelAll(tx: Tx, values: readonly unknown[]): Promise<Row[]> {
  const rows = await tx.query('cancel', values)
  const removed = (rows[0]?.['cancelled'] as number) + (rows[0]?.['due'] as number)
  if (removed > 0) await tx.query('forget_payloads', values.slice(0, 2))
  return rows
}
