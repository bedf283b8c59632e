// node work-under-flood.ts STORE RATE: works on the pool `load` with so many runs a second, which it puts itself, and serves.
// Prints where as its first line, then five times a second what it did since the line before.
import { headrace } from '../../src/headrace.ts'
import { serve } from '../../src/server/server.ts'

const REPORT_MS = 200
const PUT_MS = 50

/** A line of what it did. */
export interface FloodedReport {
  /** Milliseconds since the process began. */
  at: number
  runs: number
  /** How long after their due time runs began, in milliseconds. */
  lateness: number[]
  rss: number
  /** How often it was declared dead so far. */
  lost: number
}

const [store, rate] = process.argv.slice(2)
const race = await headrace({ store, name: 'flooded', drainWithin: 0 })
const pool = race.pool('load')
let [lost, runs, puts] = [0, 0, 0]
let lateness: number[] = []
race.telemetry.on('roster.lost', () => (lost += 1))
race.work(
  pool,
  ({ dueAt }) => {
    runs += 1
    lateness.push(Math.max(0, Date.now() - dueAt.getTime()))
  },
  { concurrency: 500 },
)
await race.start()
const { url } = await serve(race, { port: 0 })
process.stdout.write(`${JSON.stringify({ url })}\n`)
const beganAt = performance.now()
setInterval(() => {
  const owed = Math.floor(((performance.now() - beganAt) / 1000) * Number(rate)) - puts
  // After a stall it does not put everything that it missed: a client would have been refused.
  const now = Array.from({ length: Math.min(owed, 1000) }, (_, nth) => ({ key: `k${puts + nth}` }))
  puts += owed
  if (now.length > 0) void pool.putAll(now).catch(() => undefined)
}, PUT_MS)
setInterval(() => {
  const report: FloodedReport = {
    at: performance.now(),
    runs,
    lateness,
    rss: process.memoryUsage().rss,
    lost,
  }
  process.stdout.write(`${JSON.stringify(report)}\n`)
  runs = 0
  lateness = []
}, REPORT_MS)
process.once('SIGTERM', () => void race.stop().then(() => process.exit()))
