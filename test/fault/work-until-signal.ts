// node work-until-signal.ts SIGNALS HANDLER: works on one run in memory, and prints what becomes of it. SIGNALS is true, false,
// none, or own: a listener of the program. The handler `short` ends soon, `long` takes 6 s, `endless` does not end, and `busy`
// leaves the process with more to do.
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'

const HANDLERS: Record<string, number> = { endless: 600_000, long: 6000 }
const [signals = 'none', handler = 'short'] = process.argv.slice(2)
const race = await headrace({
  store: 'memory:',
  partitions: 1,
  ...(signals === 'true' || signals === 'false' ? { signals: signals === 'true' } : {}),
})
race.work(race.pool('work'), async () => {
  console.log('began')
  await systemClock.sleep(HANDLERS[handler] ?? 300)
  console.log('ended')
})
if (handler === 'busy') setInterval(() => undefined, 1000)
await race.start()
if (signals === 'own') process.once('SIGTERM', () => void race.stop())
await race.pool('work').put('a')
