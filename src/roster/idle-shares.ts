// Shares that nobody collects any more: which to mark, which to remove, and when to look again. Pure. Rule [Q11] of
// docs/spec/roster.md.
import { SHARE_IDLE_MS, isShare } from './share.ts'
import type { IdleMarks, RosterView } from './store.ts'

export interface IdleShares extends IdleMarks {
  /** Idle for long enough, or allotments that were left without a resource. */
  expired: string[]
  /** By the store's clock: when the next one expires. */
  nextAt: number
}

export function idleShares(view: RosterView): IdleShares {
  const served = new Set(view.members.flatMap(({ serves }) => serves))
  const shares = view.resources.map(({ name }) => name).filter(isShare)
  const unserved = shares.filter((name) => !served.has(name))
  // A mark in the future was written before the clock was set back.
  const marked = unserved.filter((name) => sinceOf(view, name) <= view.now)
  const isOver = (name: string): boolean => sinceOf(view, name) <= view.now - SHARE_IDLE_MS
  const waiting = marked.filter((name) => !isOver(name)).map((name) => sinceOf(view, name) + SHARE_IDLE_MS)
  return {
    idle: unserved.filter((name) => sinceOf(view, name) > view.now),
    busy: shares.filter((name) => served.has(name) && name in view.idle),
    expired: [...marked.filter(isOver), ...orphansOf(view)],
    nextAt: waiting.reduce((first, at) => Math.min(first, at), Infinity),
  }
}

function sinceOf(view: RosterView, name: string): number {
  return view.idle[name] ?? Infinity
}

/** A decision that was under way when a share was removed leaves its allotments. */
function orphansOf({ resources, allotments }: RosterView): string[] {
  const known = new Set(resources.map(({ name }) => name))
  return [...new Set(allotments.map(({ resource }) => resource))].filter(
    (name) => isShare(name) && !known.has(name),
  )
}
