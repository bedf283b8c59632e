// Looks at a store itself, without a server: opens it, reads its clock, writes to it, and asks what it and its roster
// find.
import type { FindingView } from '../client/client.ts'
import type { Clock } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { noFaults } from '../fault.ts'
import { maskAddress } from '../mask.ts'
import { OPTIONS } from '../options.ts'
import { toMs } from '../duration.ts'
import { findingsOf } from '../roster/findings.ts'
import { timingOf } from '../roster/settings.ts'
import { summaryOf } from '../roster/summary.ts'
import type { Store } from '../store.ts'
import { openStore } from '../stores/open.ts'
import { createTelemetry } from '../telemetry.ts'
import { clockFinding, failureFinding } from './findings.ts'

/** The name of the lock that is taken and given back to see whether the store takes writes. */
const LOCK = 'headrace-doctor'
const LOCK_MS = 1000

export async function examineStore(
  address: string,
  clock: Clock,
): Promise<{ of: string; findings: FindingView[] }> {
  const telemetry = createTelemetry(clock.id())
  const schema: FindingView[] = []
  const stop = telemetry.on('store.migrated', ({ from, to }) => {
    if (from !== to) schema.push(migrated(from, to))
  })
  const beganAt = clock.mono()
  try {
    const store = await openStore(address, { clock, telemetry, faults: noFaults })
    try {
      const detail = `${store.address} opened in ${Math.round(clock.mono() - beganAt)} ms`
      const reached = { check: 'reachable', ok: true, detail, remedy: null }
      return { of: store.address, findings: [reached, ...schema, ...(await examine(store, clock))] }
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof HeadraceError) || error.code === 'store_unknown') throw error
    return {
      of: maskAddress(address),
      findings: [failureFinding(isSchema(error) ? 'schema' : 'reachable', error)],
    }
  } finally {
    stop()
  }
}

function isSchema({ code }: HeadraceError): boolean {
  return code === 'store_newer'
}

/** It was older, and no harm was done: opening a store brings it up to date. */
function migrated(from: number, to: number): FindingView {
  const was = from === 0 ? 'it was empty' : `it was at version ${from}`
  return { check: 'migration', ok: true, detail: `${was}, and is at version ${to} now`, remedy: null }
}

async function examine(store: Store, clock: Clock): Promise<FindingView[]> {
  return [
    await readClock(store, clock),
    await tryWrite(store, clock),
    ...(await store.inspect()),
    ...(await roster(store)),
  ]
}

async function readClock(store: Store, clock: Clock): Promise<FindingView> {
  const sentAt = clock.now()
  const { now } = await store.pulse({ beat: null, pools: [] })
  return clockFinding({ sentAt, answeredAt: clock.now(), now })
}

async function tryWrite(store: Store, clock: Clock): Promise<FindingView> {
  const beganAt = clock.mono()
  const holder = clock.id()
  try {
    const lock = await store.locks.acquire({ name: LOCK, holder, ttlMs: LOCK_MS })
    if (lock !== null) await store.locks.release(LOCK, holder)
    const took = `${Math.round(clock.mono() - beganAt)} ms`
    const detail =
      lock === null ? 'another doctor is writing right now' : `took and gave back a lock in ${took}`
    return { check: 'write', ok: true, detail, remedy: null }
  } catch (error) {
    return failureFinding('write', error)
  }
}

/** By the lease of the leader if there is one, since ours says nothing about theirs. */
async function roster(store: Store): Promise<FindingView[]> {
  const view = await store.roster.view()
  const fences = await Promise.all(
    view.resources.map(async ({ name }) => [name, await store.fences.fences(name)] as const),
  )
  const all = new Map(fences)
  const { leader } = summaryOf(view, all, timingOf(toMs(OPTIONS.lease.default)))
  return findingsOf(summaryOf(view, all, timingOf(leader?.leaseMs ?? toMs(OPTIONS.lease.default))))
}
