// Three servers on one PostgreSQL under load, and what becomes of them: killed, stopped, paused, joined by a fourth, their
// store restarted, a clock wrong. Ticks are judged by the posts and the tables, ownership by the audit of triggers.
import { assert } from '../../src/errors.ts'
import { addMember } from '../../test/fault/add-member.ts'
import { breaches, describeOwnership } from '../../test/fault/audit.ts'
import { Crew } from '../../test/fault/crew.ts'
import { pauseMembers, servePausable } from '../../test/fault/pause-members.ts'
import { restartStore } from '../../test/fault/restart-store.ts'
import { stopMembers } from '../../test/fault/stop-members.ts'
import { wrongClock } from '../../test/fault/wrong-clock.ts'
import { once } from '../once.ts'
import type { ProofContext, ProofRow } from '../row.ts'
import { killCrew } from './kill-crew.ts'
import { describe, found, isRight, quantile, spread } from './verdict.ts'

const LEASE_MS = 3000
const TAKEN_OVER_MS = 5000
const HANDED_OVER_MS = 1000
const MOST_MOVED = 8

const kills = once(async (context: ProofContext) => {
  const count = context.quick ? 5 : 100
  return {
    ...(await killCrew(context, { isBounced: false, kills: count, apartMs: [9000, 12_000] })),
    count,
  }
})

const pauses = once(async ({ quick, progress }: ProofContext) => {
  await using crew = await Crew.of(3, { connections: 10, serve: servePausable })
  const count = quick ? 16 : 200
  const atPoint = await pauseMembers(crew, count, progress)
  return { ...(await crew.judge()), atPoint, count }
})

export const rows: ProofRow[] = [
  {
    name: 'three members, SIGKILLs under load: ticks lost, early or twice, gaps',
    bar: '0',
    async run(context) {
      const verdict = await kills(context)
      const value = `${found(verdict)} in ${verdict.count} kills`
      return {
        value,
        holds: found(verdict) === 0,
        detail: `${verdict.leaders} leaders; ${describe(verdict)}`,
      }
    },
  },
  {
    name: 'the same: from the kill to the first write under the new epoch, p99 over partitions',
    bar: '≤ 5,000 ms',
    speed: true,
    async run(context) {
      const { takenOverMs, seed, leaders } = await kills(context)
      const p99 = quantile(takenOverMs, 0.99)
      return {
        value: `${p99} ms`,
        holds: takenOverMs.length > 0 && p99 <= TAKEN_OVER_MS,
        detail: `seed ${seed}: ${takenOverMs.length} partitions, ${leaders} leaders, ${spread(takenOverMs)}`,
      }
    },
  },
  {
    name: 'SIGTERM of a member: from its last write to the next owner’s first, the longest',
    bar: '≤ 1,000 ms, exit code 0',
    speed: true,
    async run({ quick, progress }) {
      await using crew = await Crew.of(3)
      const { codes, handedOverMs } = await stopMembers(crew, quick ? 3 : 20, progress)
      const verdict = await crew.judge()
      const longest = quantile(handedOverMs, 1)
      const isClean = codes.every((code) => code === 0) && isRight(verdict)
      const detail = `${spread(handedOverMs)}, exit codes ${codes.join(' ')}; ${describe(verdict)}`
      // Judged in a quick run, too.
      assert(isClean && handedOverMs.length > 0, detail)
      return {
        value: `${longest} ms in ${codes.length} stops`,
        holds: longest <= HANDED_OVER_MS,
        detail,
      }
    },
  },
  {
    name: 'SIGSTOP past a lease of 1 s, half of them before a write: stale writes accepted',
    bar: '0, more than 0 refused',
    async run(context) {
      const verdict = await pauses(context)
      const { refused } = verdict.ownership
      return {
        value: `${breaches(verdict.ownership)} in ${verdict.count} pauses, ${refused} refused`,
        holds: isRight(verdict) && refused > 0,
        detail: `${verdict.atPoint} before a write; ${describe(verdict)}`,
      }
    },
  },
  {
    name: 'audit of raises and fenced writes under kills and pauses: two owners of one partition',
    bar: '0',
    async run(context) {
      const verdicts = [(await kills(context)).ownership, (await pauses(context)).ownership]
      const value = verdicts.reduce((sum, verdict) => sum + breaches(verdict), 0)
      const detail = verdicts.map((verdict) => describeOwnership(verdict)).join('; then ')
      return { value, holds: value === 0 && verdicts.every(({ wrote }) => wrote > 0), detail }
    },
  },
  {
    name: 'a fourth member: partitions that move to it, and that move beside its own when it goes',
    bar: `≤ ${MOST_MOVED} of 32, 0`,
    async run() {
      await using crew = await Crew.of(3)
      const { movedToIt, movedFromIt, movedBeside, moves } = await addMember(crew)
      const verdict = await crew.judge()
      const isFew = movedToIt > 0 && movedToIt <= MOST_MOVED && movedBeside === 0
      const isCounted = moves === movedToIt + movedFromIt
      return {
        value: `${movedToIt}, ${movedBeside}`,
        holds: isFew && isCounted && isRight(verdict),
        detail: `${moves} moves counted in the table; ${describe(verdict)}`,
      }
    },
  },
  {
    name: 'a store restart of 4 s under load: partitions that move',
    bar: '0, no tick lost or twice',
    async run() {
      await using crew = await Crew.of(3)
      const result = await restartStore(crew, { awayMs: 4000, leaseMs: LEASE_MS })
      const { awayMs, moves, epochs, answeredAfter } = result
      const verdict = await crew.judge()
      return {
        value: moves,
        holds: moves === 0 && epochs === 0 && answeredAfter > 0 && isRight(verdict),
        detail: `away for ${awayMs} ms, ${epochs} epochs changed, ${answeredAfter} posts acknowledged after it; ${describe(verdict)}`,
      }
    },
  },
  ...[1, -1].map((hours): ProofRow => ({
    name: `a member’s clock an hour ${hours > 0 ? 'ahead' : 'behind'}: ticks lost, early or twice`,
    bar: '0',
    async run({ quick }) {
      const verdict = await wrongClock({ hours, forMs: quick ? 5000 : 60_000 })
      const { share, led, lateMs } = verdict
      return {
        value: found(verdict),
        holds: isRight(verdict) && share > 0,
        detail: `it had ${share} partitions${led ? ' and led' : ''}, ticks p99 ${lateMs} ms late; ${describe(verdict)}`,
      }
    },
  })),
]
