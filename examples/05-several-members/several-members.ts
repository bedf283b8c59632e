// A member of a roster: it leads, holds a named lock, and owns partitions of something that is not Headrace's.
// Start it several times on one store (HEADRACE_STORE), and the members share the shards.
import { type Ownership, headrace } from 'headrace'

const store = process.env['HEADRACE_STORE'] ?? 'memory:'
const race = await headrace({ store, name: 'm1' })
const shards = race.own('shards', { partitions: 4 })
await race.start()
await owning(shards)
console.log(`${race.roster.name} leads: ${race.roster.leads}, in term ${race.roster.leader?.term}`)

// The effect outside is fenced: a write under an epoch that is lower than the last one's is refused there.
const index = new Map<number, number>()
const write = (shard: number, epoch: number): boolean => {
  if (epoch < (index.get(shard) ?? 0)) return false
  index.set(shard, epoch)
  return true
}
await shards.use(async ({ held }) => {
  // None of these is handed over to another member before this function ends.
  for (const { partition, epoch } of held) {
    console.log(`shard ${partition} under epoch ${epoch}: ${write(partition, epoch) ? 'written' : 'refused'}`)
  }
})
console.log(`a write of an earlier owner: ${write(0, 0) ? 'written' : 'refused'}`)

const lock = await race.lock('report', { ttl: '10s' })
console.log(`lock held: ${lock?.isHeld}, token ${lock?.token}`)
console.log('a second try at once:', await race.lock('report'))
const waiting = race.lock('report', { wait: '5s' })
await lock?.release()
const next = await waiting
console.log(`a try that waited: token ${next?.token}`)
await next?.release()
await race.stop()

/** Resolves when this member holds partitions. */
async function owning(ownership: Ownership): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (ownership.claim().held.length === 0) return
      unwatch()
      resolve()
    }
    const unwatch = ownership.watch(look)
    look()
  })
}
