// The look at what other processes have committed: often and cheap, with hints only for what is worth waking up for.
import type { Clock, Timer } from '../../clock.ts'
import type { Hint } from '../../store.ts'
import type { Database } from './database.ts'

/** How often the file is asked whether another process has written; 2 µs each, no store call. */
const LOOK_EVERY_MS = 10

interface Seen {
  /** Changes with every commit of another process, beats included. */
  dataVersion: number
  /** Grows with every commit but beats and those of the roster. */
  commits: number
  /** The roster's version. */
  roster: number
}

/**
 * Hints `foreign` after another process has committed, and `roster` when the roster has changed. A beat changes
 * neither number, so that it costs the others a read of two rows. Answers how to stop looking.
 */
export function watchForeignCommits(
  database: Database,
  clock: Clock,
  hint: (hint: Hint) => void,
): () => void {
  let seen = look(database, null)
  let timer: Timer
  const again = (): void => {
    // Before the listeners are called, since one of them may close the store.
    timer = clock.timer(LOOK_EVERY_MS, again, { background: true })
    const before = seen
    seen = lookIfReadable(database, before)
    if (seen.commits !== before.commits) hint({ kind: 'foreign' })
    if (seen.roster !== before.roster) hint({ kind: 'roster' })
  }
  timer = clock.timer(LOOK_EVERY_MS, again, { background: true })
  return () => timer.cancel()
}

/** What was seen before while the file cannot be read, as when another process recovers it; calls say so themselves. */
function lookIfReadable(database: Database, before: Seen): Seen {
  try {
    return look(database, before)
  } catch {
    return before
  }
}

function look(database: Database, before: Seen | null): Seen {
  // First: what is committed between the two reads is then looked at twice, and never missed.
  const dataVersion = database.dataVersion()
  if (before !== null && dataVersion === before.dataVersion) return before
  const { commits, roster } = database.statement('last_commit').get() as { commits: number; roster: number }
  return { dataVersion, commits, roster }
}
