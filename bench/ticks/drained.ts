// Waits until a server has moved every tick that was posted to it, so that one measurement does not run
// beside the rest of another.
import { createClient } from '../../src/client/client.ts'
import { systemClock } from '../../src/clock.ts'

const LOOK_MS = 200

/** Resolves when no tick waits; throws when some still do after `withinMs`. */
export async function drained(url: string, withinMs: number): Promise<void> {
  const client = createClient({ server: url })
  const latest = systemClock.mono() + withinMs
  for (;;) {
    const { ticks } = await client.status()
    const left = Object.values(ticks?.counts ?? {}).reduce((sum, count) => sum + count, 0)
    if (left === 0) return
    if (systemClock.mono() > latest) throw new Error(`${left} ticks still wait after ${withinMs} ms`)
    await systemClock.sleep(LOOK_MS)
  }
}
