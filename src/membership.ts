// What makes a process a member: its part in the roster, and the pulse that carries it.
import { hostname } from 'node:os'
import type { Clock } from './clock.ts'
import type { Options } from './options.ts'
import { PulseLoop, type Sent } from './pulse.ts'
import type { About } from './roster/parts.ts'
import { Roster } from './roster/roster.ts'
import { timingOf } from './roster/settings.ts'
import type { ServiceState } from './service.ts'
import type { Pulse, PulseRequest, Store } from './store.ts'
import type { Telemetry } from './telemetry.ts'
import { VERSION } from './version.ts'

export interface MembershipParts {
  options: Options
  clock: Clock
  telemetry: Telemetry
  store: Store
  /** How the services of this process are. */
  health(): Readonly<Record<string, ServiceState>>
  /** What the next pulse asks of pools. */
  pools(): PulseRequest['pools']
  /** Told of every answered pulse, after the roster was. */
  notice(pulse: Pulse, sent: Sent): void
}

export function createMembership(parts: MembershipParts): { roster: Roster; pulse: PulseLoop } {
  const timing = timingOf(parts.options.lease)
  const roster = new Roster({
    ...parts,
    timing,
    drainWithinMs: parts.options.drainWithin,
    about: () => aboutOf(parts.options),
    pulseSoon: () => pulse.soon(),
  })
  const pulse = new PulseLoop({
    ...parts,
    everyMs: timing.pulseMs,
    withinMs: timing.pulseWithinMs,
    request: () => ({ beat: roster.beat(), pools: parts.pools() }),
    isStuck: () => roster.isStuck,
    notice: (answered, sent) => {
      roster.hear(answered, sent)
      parts.notice(answered, sent)
    },
  })
  return { roster, pulse }
}

/** What this process says of itself. */
function aboutOf({ name, address, weight, lease }: Options): About {
  const leads = true
  return {
    name: name ?? `${hostname()}:${process.pid}`,
    address,
    version: VERSION,
    weight,
    concurrency: 1,
    leads,
    leaseMs: lease,
  }
}
