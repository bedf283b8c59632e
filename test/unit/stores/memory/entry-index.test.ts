// The order in which entries are due, compared with a look at all of them; and that what is gone takes no room.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Entry } from '../../../../src/pool/entry.ts'
import { createRandom } from '../../../../src/random.ts'
import { EntryIndex } from '../../../../src/stores/memory/entry-index.ts'
import { entryOf } from '../entry-of.ts'

test('what is due, and when the first will be, are as a look at every entry has it', () => {
  const random = createRandom(5)
  const entries = new EntryIndex()
  const known = new Map<string, Entry>()
  const wanted = new Set([0, 2])
  for (let nth = 0; nth < 5000; nth += 1) {
    const key = `k${random.below(80)}`
    if (random.below(3) === 0) {
      entries.delete(key)
      known.delete(key)
    } else {
      const state = random.below(5) === 0 ? 'dead' : 'live'
      const entry = entryOf(key, random.below(1000), { partition: random.below(4), state })
      entries.set(key, entry)
      known.set(key, entry)
    }
    const live = [...known.values()].filter((each) => each.state === 'live' && wanted.has(each.partition))
    const due = live.filter(({ next }) => next.dueAt <= 300)
    assert.deepEqual(new Set(entries.dueBy(300, wanted)), new Set(due))
    assert.equal(entries.dueBy(300, wanted).length, due.length)
    const first = live.length === 0 ? null : Math.min(...live.map(({ next }) => next.dueAt))
    assert.equal(entries.firstDueAt(wanted), first)
  }
  assert.deepEqual(new Set(entries.values()), new Set(known.values()))
})

test('entries that were cancelled long before they are due take no room until then', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const entries = new EntryIndex()
  entries.set('first', entryOf('first', 0))
  const cancelled = Array.from({ length: 1000 }, (_, nth) => {
    const entry = entryOf(`k${nth}`, 1_000_000)
    entries.set(entry.key, entry)
    entries.delete(entry.key)
    return new WeakRef(entry)
  })
  // What a turn has touched is not collected in it.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  const kept = cancelled.filter((entry) => entry.deref() !== undefined).length
  assert.ok(kept < 20, `${kept} are still there`)
  assert.equal(entries.firstDueAt([0]), 0)
})
