// What the rows of several servers say of what was found.
import { breaches, describeOwnership } from '../../test/fault/audit.ts'
import { describeFindings } from '../../test/fault/check-ticks.ts'
import type { CrewVerdict } from '../../test/fault/crew.ts'

/** Everything that is wrong with ticks. */
export function found({ findings }: Pick<CrewVerdict, 'findings'>): number {
  return Object.values(findings as unknown as Record<string, string[]>).flat().length
}

export function isRight(verdict: CrewVerdict): boolean {
  return found(verdict) === 0 && breaches(verdict.ownership) === 0 && verdict.acknowledged > 0
}

export function describe(verdict: CrewVerdict): string {
  const { seed, acknowledged, unanswered, refused, events, findings, ownership, talk } = verdict
  const posts = `${acknowledged} posts acknowledged, ${refused} refused, ${unanswered} unanswered, ${events} events`
  const strain = `${verdict.deadlocks} deadlocks, ${verdict.connections} connections a server, ${talk.length} failures told`
  return `seed ${seed}: ${posts}; ${describeOwnership(ownership)}; ${strain} ${describeFindings(findings)}`.trimEnd()
}

export function spread(values: readonly number[]): string {
  return `p50 ${quantile(values, 0.5)}, p99 ${quantile(values, 0.99)}, max ${quantile(values, 1)} ms`
}

/** A part of the sorted values: 0.99 is the 99th percentile. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? Infinity)
}
