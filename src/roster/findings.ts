// What is wrong with a roster, and what to do about it. Pure, over the summary that people read.
import type { Finding } from '../store.ts'
import { isShare } from './share.ts'
import type { RosterSummary } from './summary.ts'

/** One for each thing that was looked at. */
export function findingsOf(roster: RosterSummary): Finding[] {
  return [
    leaderFinding(roster),
    overlapFinding(roster),
    silenceFinding(roster),
    loopFinding(roster),
    versionFinding(roster),
    leaseFinding(roster),
    serviceFinding(roster),
  ]
}

interface Verdict {
  /** Null: all is well. */
  wrong: string | null
  well: string
  remedy: string
}

function finding(check: string, { wrong, well, remedy }: Verdict): Finding {
  return { check, ok: wrong === null, detail: wrong ?? well, remedy: wrong === null ? null : remedy }
}

function leaderFinding({ leader, members }: RosterSummary): Finding {
  const candidates = members.filter(({ leads }) => leads)
  return finding('leader', {
    wrong: leader !== null || members.length === 0 ? null : 'nobody leads, so nothing is given a new owner',
    well: leader === null ? 'nobody has joined' : `${leader.name} leads in term ${leader.term}`,
    remedy:
      candidates.length === 0
        ? 'start a member that may lead'
        : 'wait for one lease; if it lasts, see whether the members reach the store',
  })
}

function overlapFinding({ overlap }: RosterSummary): Finding {
  return finding('overlap', {
    wrong: overlap === 0 ? null : `${overlap} partitions are held by two members, which must never be`,
    well: 'no partition is held by two members',
    remedy:
      'this is a defect: keep what "headrace roster allotments --json" says, and report it; writes stay fenced',
  })
}

function silenceFinding({ members, leaseMs }: RosterSummary): Finding {
  const silent = members.filter((member) => member.silent)
  return finding('heartbeats', {
    wrong:
      silent.length === 0 ? null : `${listOf(silent)} said nothing for more than a lease (${leaseMs} ms)`,
    well: members.length === 0 ? 'nobody has joined' : `${listOf(members)} answered within a lease`,
    remedy: 'see whether the process runs and reaches the store; the leader moves its work soon',
  })
}

function loopFinding({ members }: RosterSummary): Finding {
  const broken = members.flatMap(({ name, health }) =>
    Object.entries(health)
      .filter(([, state]) => state === 'failed' || state === 'stopped')
      .map(([loop, state]) => `${loop} of ${name} is ${state}`),
  )
  return finding('loops', {
    wrong: broken.length === 0 ? null : broken.join('; '),
    well: 'every loop of every member runs',
    remedy: 'its stderr says why it ended; restart that member',
  })
}

function versionFinding({ members }: RosterSummary): Finding {
  const versions = [...new Set(members.map(({ version }) => version))].toSorted()
  return finding('versions', {
    wrong: versions.length <= 1 ? null : `members run ${versions.join(' and ')}`,
    well: versions.length === 0 ? 'nobody has joined' : `every member runs ${versions[0]}`,
    remedy: 'finish the upgrade: restart the members that run the older one',
  })
}

/** Of all who live, and of who answers: the leader may be the one that is right. */
function leaseFinding({ leaseMs, members }: RosterSummary): Finding {
  const leases = new Map([[leaseMs, ['here']]])
  for (const { name, leaseMs: theirs, silent } of members) {
    if (theirs !== null && !silent) leases.set(theirs, [name, ...(leases.get(theirs) ?? [])])
  }
  const each = [...leases].toSorted(([a], [b]) => a - b).map(([ms, who]) => `${ms} ms (${who.join(', ')})`)
  return finding('lease', {
    wrong: leases.size === 1 ? null : `leases differ: ${each.join(' and ')}`,
    well: `${leaseMs} ms`,
    remedy: 'give every member the same --lease (HEADRACE_LEASE)',
  })
}

function serviceFinding({ resources, members }: RosterSummary): Finding {
  const unserved = resources.filter(({ name, unowned }) => {
    return unowned > 0 && !isShare(name) && !members.some(({ serves }) => serves.includes(name))
  })
  const names = unserved.map(({ name, unowned }) => `${unowned} partitions of ${name}`)
  // Without members nothing is served; that is said once, and is no fault of a resource.
  return finding('service', {
    wrong: unserved.length === 0 || members.length === 0 ? null : `nobody serves ${names.join(', ')}`,
    well: members.length === 0 ? 'nobody has joined' : 'every resource has a member that serves it',
    remedy: 'start a member that serves it; what nobody needs any more does no harm',
  })
}

function listOf(members: readonly { name: string }[]): string {
  return members.map(({ name }) => name).join(', ')
}
