// The payloads of pools that keep them all: rows that change in the transaction of the put, the settle or the cancel, behind
// the statement that locks the entries.
import { HeadraceError } from '../../errors.ts'
import { payloadsFull, tooMuch } from '../../pool/payloads.ts'
import type { Settlement } from '../../pool/settle.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Row, Tx } from './connections.ts'
import type { KnownPool } from './pools.ts'
import { type PlacedPut, SEPARATOR } from './put-batch.ts'

/** Keeps the payloads of one round of puts, by the notes of what came of them. */
export async function keepPayloads(
  tx: Tx,
  pool: Pick<KnownPool, 'id' | 'name'>,
  placed: readonly PlacedPut[],
  notes: readonly number[],
): Promise<void> {
  const puts = new Map(placed.map(({ put, nth }) => [nth, put]))
  const kept = notes.flatMap((note) => {
    const put = puts.get(note >> 6)
    return put === undefined ? [] : [{ put, step: note & 7 }]
  })
  const keys = textArray(kept.map(({ put }) => put.key))
  const payloads = kept.map(({ put }) => put.payload ?? '').join(SEPARATOR)
  await tx.query('keep_payloads', [pool.id, keys, numberArray(kept.map(({ step }) => step)), payloads])
}

/** Throws when an entry of these puts holds too much: behind the last of them, since each look reads all of its payloads. */
export async function refuseTooMuch(
  tx: Tx,
  pool: Pick<KnownPool, 'id' | 'name'>,
  rounds: readonly PlacedPut[][],
): Promise<void> {
  // Of each key the first put stands in the first round.
  const keys = textArray((rounds[0] ?? []).map(({ put }) => put.key))
  for (const row of await tx.query('weigh_payloads', [pool.id, keys])) {
    const most = tooMuch({ count: Number(row['count']), bytes: Number(row['bytes']) })
    if (most !== null) throw new PayloadsFull({ pool: pool.name, key: row['key'] as string, most })
  }
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
  const settled = settlements.flatMap((settlement, index) => {
    const step = rows[index]?.['step'] as number | null | undefined
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
