// An old snapshot keeps millions of removed entries: members start and go on all the same.
import { once } from '../once.ts'
import type { ProofContext, ProofRow } from '../row.ts'
import { type OldSnapshot, withOldSnapshot } from './old-snapshot.ts'

const MOST_MS = 10_000

function rowsOf(dead: number, quick: boolean): ProofRow[] {
  const run = once(({ progress }: ProofContext) => withOldSnapshot({ dead }, progress))
  const name = `${dead.toLocaleString('en')} removed entries under an open snapshot`
  const row = (what: string, measure: (found: OldSnapshot) => number): ProofRow => ({
    name: `${name}: ${what}`,
    bar: '≤ 10 s',
    quick,
    speed: true,
    async run(context) {
      const found = await run(context)
      const { runs, firstRunMs, firstOldMs, longestStopMs, horizon } = found
      const detail = `${runs} runs; first ${Math.round(firstRunMs)} ms, what waited ${Math.round(firstOldMs)} ms, longest stop ${Math.round(longestStopMs)} ms; doctor: ${horizon}`
      return { value: `${Math.round(measure(found))} ms`, holds: measure(found) <= MOST_MS, detail }
    },
  })
  return [
    row('first run of a new member', ({ firstRunMs }) => firstRunMs),
    row('longest stop of running members, while partitions are taken over', (found) => found.longestStopMs),
  ]
}

export const rows: ProofRow[] = [...rowsOf(300_000, true), ...rowsOf(12_000_000, false)]
