// What is kept of what a handler threw.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { describeError } from '../../../src/pool/describe-error.ts'

/** What a call fails with. */
async function thrownBy(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  return assert.fail('it did not fail')
}

test('[X25] a failed fetch says that the connection was refused', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  const text = describeError(await thrownBy(() => fetch(`http://127.0.0.1:${port}/`)))
  assert.match(text, /^TypeError: fetch failed\n/)
  assert.match(text, new RegExp(`\\ncaused by: Error: connect ECONNREFUSED 127.0.0.1:${port}\\n`))
})

test('[X25] what an AggregateError holds, and a code that no message names, are kept', () => {
  const refused = Object.assign(new Error('no answer'), { code: 'ECONNREFUSED' })
  const all = new AggregateError([refused, 'a text', new Error('late')], 'all failed')
  const text = describeError(new Error('sync', { cause: all }))
  assert.match(text, /^Error: sync\n/)
  assert.match(text, /\ncaused by: AggregateError: all failed\n/)
  assert.match(text, /\none of its errors: Error: no answer \[ECONNREFUSED\]\n/)
  assert.match(text, /\none of its errors: a text\none of its errors: Error: late\n/)
})

test('[X25] causes that go round, are many, long or cannot be read are bounded', () => {
  const round = new Error('round')
  round.cause = new Error('and back', { cause: round })
  assert.equal(describeError(round).match(/\ncaused by: /g)?.length, 5)
  const many = new AggregateError(
    Array.from({ length: 1000 }, (_, nth) => new Error(`${nth}`.repeat(1000))),
    'x'.repeat(10_000),
  )
  const text = describeError(many)
  assert.ok(text.length <= 4001, `${text.length} characters`)
  assert.equal(text.match(/\none of its errors: /g)?.length, 6)
  const unreadable = new Error('odd')
  Object.defineProperty(unreadable, 'cause', { get: () => assert.fail('by its getter') })
  assert.match(describeError(unreadable), /^Error: odd\n/)
  assert.match(describeError({ toString: null }), /^something of type object that cannot be written$/)
})
