import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Heap } from '../../src/heap.ts'
import { createRandom } from '../../src/random.ts'

function heapOf(numbers: readonly number[]): Heap<number> {
  const heap = new Heap<number>((a, b) => a < b)
  for (const number of numbers) heap.push(number)
  return heap
}

function popAll(heap: Heap<number>): number[] {
  const popped: number[] = []
  while (heap.size > 0) popped.push(heap.pop() as number)
  return popped
}

const random = createRandom(1)
const numbers = Array.from({ length: 500 }, () => random.below(300))
const sorted = numbers.toSorted((a, b) => a - b)

test('what was pushed in any order is popped in its own', () => {
  const heap = heapOf(numbers)
  assert.deepEqual([heap.first, heap.size], [sorted[0], 500])
  assert.deepEqual(popAll(heap), sorted)
  assert.deepEqual([heap.first, heap.pop()], [undefined, undefined])
})

test('all up to a bound are found without being popped', () => {
  const heap = heapOf(numbers)
  const found = heap.allWhile((number) => number < 40).toSorted((a, b) => a - b)
  assert.deepEqual(
    found,
    sorted.filter((number) => number < 40),
  )
  assert.deepEqual(
    heapOf([5]).allWhile(() => false),
    [],
  )
  assert.equal(heap.size, 500)
})

test('what is kept stays in order', () => {
  const heap = heapOf(numbers)
  heap.keep((number) => number % 3 === 0)
  assert.deepEqual(
    popAll(heap),
    sorted.filter((number) => number % 3 === 0),
  )
})
