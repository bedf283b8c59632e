import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gate } from '../../src/gate.ts'

test('an open gate passes answers and errors on', async () => {
  const gate = new Gate()
  assert.equal(await gate.pass(() => Promise.resolve(1)), 1)
  await assert.rejects(
    gate.pass(() => Promise.reject(new Error('no room'))),
    /no room/,
  )
  await gate.close()
})

test('a gate that closes waits for every call under way, failed or not, and refuses new ones', async () => {
  const gate = new Gate()
  const order: string[] = []
  const ends: (() => void)[] = []
  const under = (name: string): Promise<void> =>
    gate.pass(() => new Promise<void>((resolve) => ends.push(resolve)).then(() => void order.push(name)))
  const calls = [under('first'), under('second')]
  const closings = [gate.close(), gate.close()].map((closing) => closing.then(() => order.push('closed')))
  await assert.rejects(under('late'), { code: 'not_running', remedy: 'open another one with headrace()' })
  ends[0]?.()
  await calls[0]
  assert.deepEqual(order, ['first'])
  ends[1]?.()
  await Promise.all([...calls, ...closings])
  assert.deepEqual(order, ['first', 'second', 'closed', 'closed'])
})
