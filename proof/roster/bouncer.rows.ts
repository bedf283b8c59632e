// The same behind PgBouncer in transaction mode, which gives a session to nobody.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../../test/fault/server-process.ts'
import type { ProofRow } from '../row.ts'
import { killCrew } from './kill-crew.ts'
import { describe, found, isRight, spread } from './verdict.ts'

const SUITES = join(ROOT, 'test/contract/postgres-bouncer.test.ts')

/** The counts that node:test prints at the end, by name. */
function runSuites(): Promise<Map<string, number>> {
  const args = ['--test', '--test-reporter=tap', SUITES]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, maxBuffer: 2 ** 26 }, (_, printed) => {
      const counts = [...printed.matchAll(/^# (\w+) (\d+)$/gm)]
      resolve(new Map(counts.map(([, name = '', count]) => [name, Number(count)])))
    })
  })
}

export const rows: ProofRow[] = [
  {
    name: 'behind PgBouncer, SIGKILLs under load: ticks lost, early or twice, gaps',
    bar: '0',
    async run(context) {
      const kills = context.quick ? 3 : 20
      const verdict = await killCrew(context, { isBounced: true, kills, apartMs: [7000, 8000] })
      const { leaders, takenOverMs } = verdict
      return {
        value: `${found(verdict)} in ${kills} kills`,
        holds: isRight(verdict),
        detail: `${leaders} leaders, taken over after ${spread(takenOverMs)}; ${describe(verdict)}`,
      }
    },
  },
  {
    name: 'behind PgBouncer: suites of pool, log, mover, fences, roster and locks',
    bar: '0 failed',
    // A minute; every run of the tests has it, too.
    quick: false,
    async run() {
      const counts = await runSuites()
      const [passed = 0, failed, skipped] = ['pass', 'fail', 'skipped'].map((name) => counts.get(name))
      return {
        value: `${passed} passed, ${failed} failed`,
        holds: passed > 0 && failed === 0 && skipped === 0,
        detail: [...counts].map(([name, count]) => `${name} ${count}`).join(', '),
      }
    },
  },
]
