import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Queue } from '../../src/queue.ts'

test('items come out in their order, and one that is put back comes first', () => {
  const queue = new Queue<number>()
  for (const item of [1, 2, 3]) queue.push(item)
  assert.equal(queue.shift(), 1)
  queue.unshift(1)
  queue.unshift(0)
  assert.deepEqual([[...queue], queue.size], [[0, 1, 2, 3], 4])
  assert.deepEqual([queue.shift(), queue.shift(), queue.shift(), queue.shift()], [0, 1, 2, 3])
  assert.deepEqual([queue.shift(), queue.size], [undefined, 0])
})

test('order holds through thousands that come and go', () => {
  const queue = new Queue<number>()
  let [next, expected] = [0, 0]
  for (let round = 0; round < 50; round += 1) {
    for (let nth = 0; nth < 900; nth += 1) queue.push(next++)
    for (let nth = 0; nth < 800; nth += 1) assert.equal(queue.shift(), expected++)
    queue.unshift((expected -= 1))
  }
  assert.equal(queue.size, next - expected)
  while (queue.size > 0) assert.equal(queue.shift(), expected++)
  assert.equal(expected, next)
})

test('those that are removed are answered, and the others stay in their order', () => {
  const queue = new Queue<number>()
  for (let item = 0; item < 6; item += 1) queue.push(item)
  queue.shift()
  assert.deepEqual(
    queue.remove((item) => item % 2 === 1),
    [1, 3, 5],
  )
  assert.deepEqual(
    queue.remove((item) => item > 9),
    [],
  )
  queue.push(7)
  assert.deepEqual([...queue], [2, 4, 7])
})
