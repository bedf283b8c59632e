// What an idle server costs: its memory as the kernel counts it, and its calls of the store.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, ServerProcess } from '../../test/fault/server-process.ts'
import { until } from '../../test/fault/until.ts'
import { Witness } from '../../test/fault/witness.ts'
import type { ProofContext, ProofRow } from '../row.ts'
import { once } from '../once.ts'

const IDLE_MS = 10 * 60_000
const QUICK_IDLE_MS = 20_000
/** What a start still asks of its store after its first answer is over by then; in a quick run it would count as much as all else. */
const STARTED_WITHIN_MS = 3000
const COUNTER = join(import.meta.dirname, 'count-store-calls.mjs')

interface Idle {
  seconds: number
  calls: number
  largestMb: number
}

/** One tick waits for tomorrow, as in most idle systems; nothing else happens. */
const idle = once(async ({ quick, progress }: ProofContext): Promise<Idle> => {
  // As npm start does: TypeScript that is stripped while it runs costs memory that no user pays.
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.mjs')])
  await using witness = await Witness.create()
  const counts = join(dirname(witness.file), 'calls.txt')
  const nodeArgs = ['--import', COUNTER]
  await using server = await ServerProcess.start({
    file: witness.file,
    main: join(ROOT, 'dist/cli/main.js'),
    nodeArgs,
    env: { COUNT_FILE: counts },
  })
  await server.post('tomorrow', Date.now() + 86_400_000)
  const postedAt = performance.now()
  await until(
    'the start is over',
    () => performance.now() - postedAt >= STARTED_WITHIN_MS,
    2 * STARTED_WITHIN_MS,
  )
  const read = (): number => Number(readFileSync(counts, 'utf8'))
  const [before, began, length] = [read(), performance.now(), quick ? QUICK_IDLE_MS : IDLE_MS]
  const elapsed = (): number => performance.now() - began
  let largest = 0
  const look = (): boolean => {
    largest = Math.max(largest, server.residentBytes())
    return elapsed() >= length
  }
  progress(`idle for ${length / 1000} s`)
  await until('the time is over', look, 2 * length)
  return { seconds: elapsed() / 1000, calls: read() - before, largestMb: Math.round(largest / 1e6) }
})

export const rows: ProofRow[] = [
  {
    name: 'an idle server: largest RSS',
    bar: '≤ 150 MB',
    async run(context) {
      const { largestMb, seconds } = await idle(context)
      return { value: `${largestMb} MB over ${Math.round(seconds)} s`, holds: largestMb <= 150 }
    },
  },
  {
    name: 'an idle server: store calls',
    bar: '≤ 2.5/s',
    async run(context) {
      const { calls, seconds } = await idle(context)
      const rate = calls / seconds
      const value = `${rate.toFixed(2)}/s over ${Math.round(seconds)} s`
      const detail = `${calls} calls, counted beneath the store`
      return { value, holds: calls > 0 && rate <= 2.5, detail }
    },
  },
]
