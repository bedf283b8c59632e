// What a row of proof is. A file `proof/CAPABILITY/NAME.rows.ts` exports `rows`; `npm run prove -- CAPABILITY` runs them.

export interface ProofContext {
  /** A quick run does the same with less load; it finds what is broken, not what is slow. */
  quick: boolean
  /** Says on stderr how far the row is. */
  progress: (text: string) => void
}

export interface ProofResult {
  value: string | number
  holds: boolean
  /** What helps to judge or repeat the value: seeds, counts, the worst case. */
  detail?: string
}

export interface ProofRow {
  name: string
  /** The bar, as text: `≥ 16,000/s`, `0 lost`. */
  bar: string
  /** The value depends on the machine's speed: shown in a quick run, judged only in a full one. */
  speed?: boolean
  /** false: too long for a quick run, which leaves the row out. */
  quick?: boolean
  /** An exception counts as a bar that does not hold. */
  run(context: ProofContext): Promise<ProofResult>
}

/** Rows that a quick run leaves out, since it runs the same for another store. */
export function onlyInFull(rows: readonly ProofRow[]): ProofRow[] {
  return rows.map((row) => ({ ...row, quick: false }))
}
