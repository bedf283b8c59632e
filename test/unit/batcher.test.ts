import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Batcher } from '../../src/batcher.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

test('calls of one event-loop turn share a batch, and each gets its own answer', async () => {
  const batches: number[][] = []
  const batcher = new Batcher<number, number>({
    clock: new VirtualClock(),
    size: 10,
    weigh: () => 1,
    run: async (items) => {
      batches.push(items)
      return items.map((item) => item * 2)
    },
  })
  assert.deepEqual(await Promise.all([1, 2, 3].map((item) => batcher.add(item))), [2, 4, 6])
  assert.equal(await batcher.add(4), 8)
  assert.deepEqual(batches, [[1, 2, 3], [4]])
})

test('a batch holds at most its size, and order is kept', async () => {
  const sizes: number[] = []
  const batcher = new Batcher<number, number>({
    clock: new VirtualClock(),
    size: 4,
    weigh: () => 1,
    run: async (items) => {
      sizes.push(items.length)
      return items
    },
  })
  const items = Array.from({ length: 10 }, (_, index) => index)
  assert.deepEqual(await Promise.all(items.map((item) => batcher.add(item))), items)
  assert.deepEqual(sizes, [4, 4, 2])
})

test('while a batch is under way the next one gathers, and only one is under way', async () => {
  const clock = new VirtualClock()
  const release: (() => void)[] = []
  const sizes: number[] = []
  const batcher = new Batcher<number, number>({
    clock,
    size: 100,
    weigh: () => 1,
    run: async (items) => {
      sizes.push(items.length)
      await new Promise<void>((resolve) => release.push(resolve))
      return items
    },
  })
  const first = batcher.add(1)
  await clock.settle()
  const later = [2, 3, 4].map((item) => batcher.add(item))
  await clock.settle()
  assert.deepEqual([sizes, batcher.waiting], [[1], 3])
  release[0]?.()
  await first
  await clock.settle()
  assert.deepEqual([sizes, batcher.waiting], [[1, 3], 0])
  release[1]?.()
  assert.deepEqual(await Promise.all(later), [2, 3, 4])
})

test('a full batch goes beside those under way, up to their number, and one that is not full waits', async () => {
  const clock = new VirtualClock()
  const release: (() => void)[] = []
  const begun: number[][] = []
  const batcher = new Batcher<number, number>({
    clock,
    size: 2,
    atOnce: 2,
    weigh: () => 1,
    run: async (items) => {
      begun.push(items)
      await new Promise<void>((resolve) => release.push(resolve))
      return items
    },
  })
  const answers = [batcher.add(1)]
  await clock.settle()
  answers.push(batcher.add(2))
  await clock.settle()
  assert.deepEqual(begun, [[1]])
  for (const item of [3, 4, 5]) answers.push(batcher.add(item))
  await clock.settle()
  assert.deepEqual(begun, [[1], [2, 3]])
  release[1]?.()
  await clock.settle()
  assert.deepEqual(begun, [[1], [2, 3], [4, 5]])
  for (const end of release) end()
  assert.deepEqual(await Promise.all(answers), [1, 2, 3, 4, 5])
})

test('a batch that fails rejects its own calls only', async () => {
  let calls = 0
  const batcher = new Batcher<number, number>({
    clock: new VirtualClock(),
    size: 2,
    weigh: () => 1,
    run: (items) => {
      calls += 1
      if (calls === 1) throw new Error('the store broke')
      return Promise.resolve(items)
    },
  })
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)))
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  )
})

test('what is thrown for an item that nobody waits for surfaces, and the next batch is run', async (t) => {
  const clock = new VirtualClock()
  const batches: number[][] = []
  const batcher = new Batcher<number, number>({
    clock,
    size: 10,
    weigh: () => 1,
    run: async (items) => {
      batches.push(items)
      if (batches.length === 1) throw new Error('a defect')
      return items
    },
  })
  // The runner listens, too, and would fail the test.
  const runners = process.rawListeners('unhandledRejection') as ((error: unknown) => void)[]
  t.after(() => {
    process.removeAllListeners('unhandledRejection')
    for (const each of runners) process.on('unhandledRejection', each)
  })
  process.removeAllListeners('unhandledRejection')
  const surfaced: unknown[] = []
  process.on('unhandledRejection', (error) => surfaced.push(error))
  batcher.push(1)
  const asked = assert.rejects(batcher.add(2), /a defect/)
  await asked
  await clock.settle()
  assert.deepEqual(surfaced.map(String), ['Error: a defect'])
  assert.equal(await batcher.add(3), 3)
  assert.deepEqual(batches, [[1, 2], [3]])
})
