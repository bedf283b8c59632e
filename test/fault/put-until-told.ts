// node put-until-told.ts ADDRESS PRODUCERS KEYS: so many producers put keys of the pool `work` by chance, one put after the
// other, until standard input ends. Then tells how often each key was put and answered, as JSON.
import { once } from 'node:events'
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'

const LATER_MS = 50
const PAUSE_MS = 20

const [address = '', producers = '', keys = ''] = process.argv.slice(2)
const race = await headrace({ store: address, partitions: 8, join: 'no' })
const pool = race.pool('work')
await pool.open()
const puts: Record<string, number> = {}
const over = new AbortController()
const all = Array.from({ length: Number(producers) }, produce)
process.stdout.write('ready\n')
process.stdin.resume()
await once(process.stdin, 'end')
over.abort()
await Promise.all(all)
await race.stop()
process.stdout.write(`${JSON.stringify(puts)}\n`)

async function produce(): Promise<void> {
  while (!over.signal.aborted) {
    const key = `k${Math.floor(systemClock.random() * Number(keys))}`
    await pool.put(key, { in: Math.floor(systemClock.random() * LATER_MS) })
    puts[key] = (puts[key] ?? 0) + 1
    await systemClock.sleep(systemClock.random() * PAUSE_MS)
  }
}
