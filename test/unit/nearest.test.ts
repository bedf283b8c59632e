import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkChoice } from '../../src/check.ts'
import { MOST_CANDIDATES, nearest } from '../../src/nearest.ts'

test('the word that was meant is found, and none where nothing is near', () => {
  const names = ['delay', 'payload', 'group']
  assert.equal(nearest('dealy', names), 'delay')
  assert.equal(nearest('PAYLOADS', names), 'payload')
  assert.equal(nearest('zzzzzz', names), null)
  assert.equal(nearest('', names), null)
  assert.equal(nearest('', ['at']), 'at')
})

test('however many names there are, a bounded number of them is compared', () => {
  let read = 0
  const name = { toLowerCase: () => ((read += 1), `pool-${read}`), length: 12 }
  const names = Array.from({ length: 100_000 }, () => name as unknown as string)
  nearest('pool-abc-xyz', names)
  assert.ok(read <= MOST_CANDIDATES, `${read} names were compared`)
})

test('a word or a name of a megabyte is not compared at all', () => {
  const long = 'x'.repeat(1024 * 1024)
  // Each of these would take 10^12 steps.
  assert.equal(nearest(long, [long]), null)
  assert.equal(nearest('x'.repeat(64), [long, `${'x'.repeat(63)}y`]), `${'x'.repeat(63)}y`)
  const choose = (): string => checkChoice(long, [long.slice(1)], { name: 'by', code: 'invalid_input' })
  assert.throws(choose, (error: Error & { remedy: string }) => error.message.length < 100)
})
