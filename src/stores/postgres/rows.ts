// Rows of entries ↔ entries.
import { type Entry, LANES, type Lane, type PlannedRun, type TakenRun } from '../../pool/entry.ts'
import { NO_SLOT } from './codes.ts'
import type { Row } from './connections.ts'

export function slotColumn(slot: number | null): number {
  return slot ?? NO_SLOT
}

export function fromSlotColumn(slot: unknown): number | null {
  return slot === NO_SLOT ? null : (slot as number)
}

export function laneColumn(lane: Lane): number {
  return LANES.indexOf(lane)
}

export function toEntry(row: Row): Entry {
  const key = row['key'] as string
  return {
    key,
    slot: fromSlotColumn(row['slot']),
    group: (row['grp'] as string | null) ?? key,
    partition: row['partition'] as number,
    turn: row['turn'] as number,
    lane: LANES[row['lane'] as number] as Lane,
    next: {
      dueAt: row['due_at'] as number,
      tally: row['tally'] as number,
      payload: row['payload'] as string | null,
      ...sinceOf(row['since']),
    },
    after:
      row['after_due_at'] === null
        ? null
        : {
            dueAt: row['after_due_at'] as number,
            tally: row['after_tally'] as number,
            payload: row['after_payload'] as string | null,
            ...sinceOf(row['after_since']),
          },
    attempt: row['attempt'] as number,
    crashes: (row['crashes'] as number | null) ?? 0,
    state: row['state'] as Entry['state'],
    failing: row['failing'] as boolean,
    lastError: row['last_error'] as string | null,
    enqueuedAt: row['enqueued_at'] as number,
    putAt: row['put_at'] as number,
  }
}

function sinceOf(since: unknown): Pick<PlannedRun, 'since'> {
  return since === null ? {} : { since: since as number }
}

export function toRun(row: Row): TakenRun {
  const key = row['key'] as string
  return {
    key,
    slot: fromSlotColumn(row['slot']),
    group: (row['grp'] as string | null) ?? key,
    partition: row['partition'] as number,
    turn: row['turn'] as number,
    dueAt: row['due_at'] as number,
    seen: row['tally'] as number,
    payload: row['payload'] as string | null,
    attempt: row['attempt'] as number,
    crashes: (row['crashes'] as number | null) ?? 0,
    ...(row['payloads'] === null ? {} : { payloads: row['payloads'] as string[] }),
    putAt: row['put_at'] as number,
    place: row['place'] as string,
  }
}
