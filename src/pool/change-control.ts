// Changes the control record of a pool: reads it, decides, and writes if the version is still the one that was read. Others
// may write at the same time; then it reads and decides again, a bounded number of times. Rule [L11] of docs/spec/limits.md.
import type { Control } from './control.ts'
import type { Controlled, ControlStore } from './store.ts'

export interface ControlChange<Answer> {
  pool: string
  mostTries: number
  /** A control of null writes nothing. */
  decide: (found: Controlled) => { control: Control | null; answer: Answer }
  /** Another write came between. */
  lost?: () => void
}

/** What was decided; null if another write came between in every try. */
export async function changeControl<Answer>(
  store: ControlStore,
  { pool, mostTries, decide, lost }: ControlChange<Answer>,
): Promise<{ answer: Answer } | null> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const found = await store.read(pool)
    const { control, answer } = decide(found)
    if (control === null || (await store.write(pool, found.version, control)) !== null) return { answer }
    lost?.()
  }
  return null
}
