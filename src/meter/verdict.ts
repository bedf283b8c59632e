// One verdict over everything that a member knows: a status, a sentence, findings, and what it is not. Pure; the server
// gathers the facts, and reads no rows for them. Rule [I10] of docs/spec/meter.md.
import { toIso } from '../clock.ts'
import type { Paused } from '../pool/control.ts'
import type { ReachedLimit } from '../pool/work-meter.ts'
import { type Overdue, pausedBy } from './overdue.ts'

/** The worst first. `unknown`: what is known is too old to judge by. */
export const VERDICTS = ['unknown', 'stuck', 'failing', 'busy', 'ok'] as const
export type VerdictStatus = (typeof VERDICTS)[number]

export interface PoolFacts {
  pool: string
  running: number
  concurrency: number
  overdue: Overdue
  /** The pause that holds; null: none does. */
  paused: Paused | null
  /** The limit that is reached; null: none is. */
  reached: ReachedLimit | null
  /** Of the last ten seconds. */
  finished: number
  failed: number
  latenessP50Ms: number | null
  /** Of the ten seconds before. */
  earlierP50Ms: number | null
}

/** A pool of ticks that is paused. */
export interface PausedTicks {
  pool: string
  overdue: Overdue
  paused: Paused
}

export interface Facts {
  pools: readonly PoolFacts[]
  /** Those that moved lately, and the pools of which none moves. */
  ticks: { count: number; p99Ms: number | null; paused: readonly PausedTicks[] }
  store: { p99Ms: number | null; pulseAgeMs: number; slowMs: number; leaseMs: number }
  /** Null: this process takes no part in the roster. */
  roster: { isTrusted: boolean; hasLeader: boolean; partitions: number; unowned: number } | null
  services: readonly { name: string; state: string }[]
}

export interface VerdictFinding {
  check: string
  status: VerdictStatus
  detail: string
  remedy: string | null
}

export interface Verdict {
  status: VerdictStatus
  sentence: string
  /** One for each thing that was looked at, the worst first. */
  findings: VerdictFinding[]
  /** What is well, and therefore not the cause. */
  not: string[]
}

interface Judged extends VerdictFinding {
  /** Somebody wants it to wait. */
  isHeld?: boolean
}

/** Late enough that work counts as waiting, and that nothing ending counts as stuck. */
const WAITING_MS = 1000
const STUCK_MS = 10_000
const RATE_SECONDS = 10

export function judge(facts: Facts): Verdict {
  const findings: Judged[] = [
    storeFinding(facts),
    ...(facts.roster === null ? [] : [rosterFinding(facts.roster)]),
    serviceFinding(facts),
    ...ticksFindings(facts),
    ...facts.pools.map(poolFinding),
  ].toSorted((a, b) => VERDICTS.indexOf(a.status) - VERDICTS.indexOf(b.status))
  const [worst] = findings
  const status = worst?.status ?? 'ok'
  const sentence =
    worst === undefined || status === 'ok' ? allWell(facts) : `${titleOf(worst)}: ${worst.detail}`
  const well = findings.filter((finding) => finding.status === 'ok')
  return {
    status,
    sentence,
    findings: findings.map(({ check, status: each, detail, remedy }) => {
      return { check, status: each, detail, remedy }
    }),
    not: status === 'ok' ? [] : well.map(({ check, detail }) => `not ${check} (${detail})`),
  }
}

function titleOf({ status, isHeld = false }: Judged): string {
  if (isHeld) return 'Held'
  return { unknown: 'Unknown', stuck: 'Stuck', failing: 'Failing', busy: 'Busy', ok: 'Well' }[status]
}

function allWell({ pools, ticks }: Facts): string {
  const finished = pools.reduce((sum, pool) => sum + pool.finished, 0)
  const running = pools.reduce((sum, pool) => sum + pool.running, 0)
  if (finished + running + ticks.count === 0) return 'Idle: nothing that this member works on is due'
  const perSecond = Math.round(finished / RATE_SECONDS)
  const work = finished + running === 0 ? [] : [`${running} running, ${perSecond} ended a second`]
  const moved = ticks.count === 0 ? [] : [`ticks are on time (p99 ${ms(ticks.p99Ms)})`]
  return `Work is flowing: ${[...work, ...moved].join(', ')}`
}

function storeFinding({ store }: Facts): VerdictFinding {
  const { p99Ms, pulseAgeMs, slowMs, leaseMs } = store
  const remedy = 'see whether the store is up and not overloaded: headrace doctor'
  const age = Math.round(pulseAgeMs)
  if (pulseAgeMs > Math.max(leaseMs, 3000)) {
    return { check: 'the store', status: 'unknown', detail: `the store last answered ${age} ms ago`, remedy }
  }
  if (p99Ms !== null && p99Ms > slowMs) {
    return { check: 'the store', status: 'busy', detail: `the store is slow (p99 ${ms(p99Ms)})`, remedy }
  }
  const detail = p99Ms === null ? `answered ${age} ms ago` : `p99 ${ms(p99Ms)}`
  return { check: 'the store', status: 'ok', detail, remedy: null }
}

function rosterFinding({
  isTrusted,
  hasLeader,
  partitions,
  unowned,
}: NonNullable<Facts['roster']>): VerdictFinding {
  const check = 'the roster'
  const remedy = 'wait for one lease; if it lasts: headrace doctor'
  if (!isTrusted) {
    const detail = 'the roster has not answered for so long that this member holds nothing'
    return { check, status: 'stuck', detail, remedy }
  }
  if (!hasLeader) return { check, status: 'failing', detail: 'nobody leads', remedy }
  if (unowned > 0) {
    const detail = `${unowned} of ${partitions} partitions have no owner`
    return { check, status: 'failing', detail, remedy }
  }
  return {
    check,
    status: 'ok',
    detail: partitions === 0 ? 'it answers' : `${partitions} partitions owned`,
    remedy: null,
  }
}

function serviceFinding({ services }: Facts): VerdictFinding {
  const broken = services.filter(({ state }) => state === 'failed' || state === 'stopped')
  const remedy = 'its stderr says why it ended; restart this member'
  if (broken.length > 0) {
    const detail = broken.map(({ name, state }) => `${name} is ${state}`).join(', ')
    return { check: 'its loops', status: 'failing', detail, remedy }
  }
  return { check: 'its loops', status: 'ok', detail: 'all run', remedy: null }
}

/** Where some are paused, that none moved does not mean that none was due. */
function ticksFindings({ ticks }: Facts): Judged[] {
  const paused = ticks.paused.map((each) => pauseFinding(each, each.paused))
  return paused.length > 0 && ticks.count === 0 ? paused : [...paused, ticksFinding(ticks)]
}

function ticksFinding({ count, p99Ms }: Facts['ticks']): VerdictFinding {
  const check = 'the ticks'
  if (count === 0 || p99Ms === null) return { check, status: 'ok', detail: 'none was due', remedy: null }
  if (p99Ms <= WAITING_MS) return { check, status: 'ok', detail: `p99 ${ms(p99Ms)} late`, remedy: null }
  return { check, status: 'busy', detail: `ticks are late (p99 ${ms(p99Ms)})`, remedy: 'headrace doctor' }
}

function poolFinding(facts: PoolFacts): Judged {
  const { pool, running, concurrency, overdue, finished, failed, paused, reached } = facts
  const check = `the pool ${pool}`
  const busy = `${running}/${concurrency} busy`
  if (paused !== null) return pauseFinding(facts, paused)
  if (failed > finished) {
    const detail = `${failed} of ${finished + failed} runs of ${pool} failed in 10 s`
    return { check, status: 'failing', detail, remedy: `headrace pool dead ${pool}` }
  }
  if (reached !== null && isKept(overdue)) return limitFinding(facts, reached)
  if (overdue.count === null) {
    const detail = `${busy}; what waits in ${pool} is not known: ${overdue.unknown ?? ''}`
    return { check, status: 'ok', detail, remedy: null }
  }
  const waits = overdue.count > 0 || overdue.atLeast
  const oldestMs = overdue.oldestMs ?? 0
  const remedy = `headrace why KEY --pool ${pool}`
  if (waits && oldestMs > STUCK_MS && finished + failed === 0) {
    const what = `${some(overdue)} due in ${pool} for ${duration(oldestMs)}, and none ended in 10 s (${busy})`
    return { check, status: running < concurrency ? 'stuck' : 'busy', detail: what, remedy }
  }
  if (waits && oldestMs > WAITING_MS) {
    return { check, status: 'busy', detail: `${some(overdue)} waiting in ${pool}, ${paceOf(facts)}`, remedy }
  }
  return { check, status: 'ok', detail: busy, remedy: null }
}

function pauseFinding({ pool, overdue }: Pick<PoolFacts, 'pool' | 'overdue'>, paused: Paused): Judged {
  const { reason, since, until } = paused
  const because = reason === null ? '' : ` (${reason})`
  const end = until === null ? '' : ` until ${toIso(until)}`
  return {
    check: `the pool ${pool}`,
    status: 'busy',
    detail: `${pool} is ${pausedBy(paused)} since ${toIso(since)}${end}${because}; ${dueIn(overdue)}`,
    remedy: `headrace pool resume ${pool}`,
    isHeld: true,
  }
}

function limitFinding(facts: PoolFacts, { kind, scope, limit, perMs, share }: ReachedLimit): Judged {
  const { pool, overdue } = facts
  const size = kind === 'rate' ? `${limit ?? '?'} in ${perMs ?? '?'} ms` : `${limit ?? '?'} at once`
  const isPart = share !== null && limit !== null && share < limit
  const of = scope === 'group' ? ' for each group' : isPart ? `, ${share} of it this member’s` : ''
  return {
    check: `the pool ${pool}`,
    status: 'busy',
    detail: `${pool} is held back by its limit (${size}${of}); ${dueIn(overdue)}, ${paceOf(facts)}`,
    remedy: `raise the limit, or let it work off: headrace pool limits ${pool}`,
    isHeld: true,
  }
}

/** Whether something has waited for a while, or may have. */
function isKept({ count, oldestMs }: Overdue): boolean {
  return count === null || (oldestMs ?? 0) > WAITING_MS
}

function dueIn(overdue: Overdue): string {
  return overdue.count === null ? 'what is due is not known' : `${some(overdue)} due`
}

/** How fast it goes, whether it gets better, and when it may be over. */
function paceOf({ overdue, finished, latenessP50Ms, earlierP50Ms }: PoolFacts): string {
  const rate = finished / RATE_SECONDS
  const trend =
    latenessP50Ms === null || earlierP50Ms === null
      ? ''
      : latenessP50Ms < earlierP50Ms
        ? 'draining, '
        : 'growing, '
  const pace = `${trend}${Math.round(rate * 10) / 10} ended a second`
  if (rate === 0 || overdue.count === null) return pace
  const emptyMs = (overdue.count / rate) * 1000
  return `${pace}, empty in ${overdue.atLeast ? 'no less than' : 'about'} ${duration(emptyMs)}`
}

function some({ count, atLeast }: Overdue): string {
  return `${atLeast ? 'at least ' : ''}${count ?? '?'}`
}

function ms(value: number | null): string {
  return value === null ? '?' : `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)} ms`
}

function duration(value: number): string {
  if (value < 60_000) return `${Math.max(1, Math.round(value / 1000))} s`
  return value < 7_200_000 ? `${Math.round(value / 60_000)} min` : `${Math.round(value / 3_600_000)} h`
}
