// `headrace serve` with a fault plan: after SIGUSR2 the process stops itself (SIGSTOP) at the next point between the
// check of what it holds and the write. It goes on with SIGCONT.
import { createProgram } from '../../src/cli/program.ts'
import { systemClock } from '../../src/clock.ts'

let isArmed = false
process.on('SIGUSR2', () => (isArmed = true))

const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())

await createProgram({
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  startedAt: systemClock.mono(),
  signal: stop.signal,
  faults: {
    at(point) {
      if (!isArmed || point !== 'move.after-claim') return
      isArmed = false
      process.kill(process.pid, 'SIGSTOP')
    },
  },
}).parseAsync(process.argv.slice(2), { from: 'user' })
