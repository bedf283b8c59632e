// The ownership of every partition of a pool, for tests of what works on them.
import type { Clock } from '../clock.ts'
import { poolResource } from '../fence.ts'
import { Ownership } from '../roster/ownership.ts'
import { Trust } from '../roster/trust.ts'
import type { Store } from '../store.ts'
import { createTelemetry } from '../telemetry.ts'

export async function ownAll(
  store: Pick<Store, 'fences'>,
  clock: Clock,
  { pool, partitions }: { pool: string; partitions: number },
): Promise<Ownership> {
  const resource = { name: poolResource(pool), partitions }
  const trust = new Trust(clock, Infinity)
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  const telemetry = createTelemetry('all')
  const parts = { resource, clock, telemetry, trust, owner: () => 'all', look: () => undefined }
  const ownership = new Ownership(parts)
  const allotments = Array.from({ length: partitions }, (_, partition) => {
    return { resource: resource.name, partition, owner: 'all', epoch: 1, next: null, since: 0, moves: 0 }
  })
  const asked = ownership.follow(allotments)
  ownership.raised(asked, await store.fences.raise(resource.name, { owner: 'all', held: asked }))
  return ownership
}
