// What else must not lose a tick: a stop, a full disk, a second process; and the sync before a 202.
import { describeFindings } from '../../test/fault/check-ticks.ts'
import { canMount, fillDisk } from '../../test/fault/full-disk.ts'
import { shareFileUnderLoad } from '../../test/fault/share-file-under-load.ts'
import { terminateUnderLoad } from '../../test/fault/terminate-under-load.ts'
import { canTrace, traceCommits } from '../../test/fault/trace-of-commit.ts'
import type { ProofResult, ProofRow } from '../row.ts'

const POSTS = 50
const DRAIN_WITHIN_MS = 30_000

const notRun = (why: string): ProofResult => ({ value: 'not run', holds: false, detail: why })

export const rows: ProofRow[] = [
  {
    name: 'strace: requests with a sync of the log before their 202',
    bar: `${POSTS} of ${POSTS}`,
    async run() {
      if (!canTrace) return notRun('strace is missing: npm run provision')
      const posts = await traceCommits(POSTS)
      const synced = posts.filter((post) => post.synced).length
      return { value: `${synced} of ${posts.length}`, holds: synced === POSTS }
    },
  },
  {
    name: 'SIGTERM under load: ticks lost, or requests of the first 300 ms without an answer',
    bar: '0, exit code 0 within the drain limit',
    async run({ quick, progress }) {
      const result = await terminateUnderLoad(quick ? 3 : 20, progress)
      const { findings, ends, cut, late, seed, acknowledged } = result
      const longest = Math.max(...ends.map(({ tookMs }) => tookMs))
      const clean = ends.every(({ code }) => code === 0) && longest < DRAIN_WITHIN_MS
      const wrong = describeFindings(findings)
      return {
        value: `${findings.lost.length + cut.length} in ${ends.length} stops`,
        holds: clean && wrong === '' && cut.length === 0,
        detail: `seed ${seed}: the longest stop ${longest} ms, exit codes ${ends.map(({ code }) => code).join(' ')}, ${acknowledged} acknowledged, ${late} sent to silent connections as they were closed ${wrong}`,
      }
    },
  },
  {
    name: 'two processes on one file, one killed: ticks lost, early or twice, gaps, requests the other failed',
    bar: '0',
    async run({ quick, progress }) {
      const result = await shareFileUnderLoad(quick ? 3 : 20, progress)
      const { findings, seed, events, unansweredPerKill, survivorFailed } = result
      const wrong = describeFindings(findings)
      const found = Object.values(findings as unknown as Record<string, string[]>).flat().length
      const value = `${found + survivorFailed} in ${unansweredPerKill.length} kills`
      const detail = `seed ${seed}: ${events} events, ${survivorFailed} requests failed by the survivor, unanswered per kill: ${unansweredPerKill.join(' ')} ${wrong}`
      return { value, holds: wrong === '' && survivorFailed === 0, detail }
    },
  },
  {
    name: 'a full disk of 48 MB: acknowledged ticks lost',
    bar: '0, 503 while full, recovery with room',
    async run({ progress }) {
      if (!canMount) return notRun('mounting a small tmpfs needs root')
      const { findings, seed, refusals, whileFull, recoveredMs, acknowledged } = await fillDisk(progress)
      const { alive, livez, readyz, reads } = whileFull
      const calm = alive && livez === 200 && readyz === 503 && reads.every((status) => status === 200)
      const refused = Object.entries(refusals).map(([code, count]) => `${count} × ${code}`)
      const wrong = describeFindings(findings)
      return {
        value: findings.lost.length,
        holds: calm && wrong === '' && Object.keys(refusals).join('') === '503 store_full',
        detail: `seed ${seed}: ${acknowledged} acknowledged, ${refused.join(', ')}, posts accepted ${recoveredMs} ms after there was room ${wrong}`,
      }
    },
  },
]
