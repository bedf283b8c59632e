// Coalescing through the public API: what a put answers, what a handler sees, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Accepted, PutOutcome, Run } from '../../../src/index.ts'
import { dead } from '../../../src/pool/answer.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openRace } from '../open-race.ts'

/** Compiles only while the outcomes are told apart by their result. */
function tell(outcome: PutOutcome | Accepted): string {
  switch (outcome.result) {
    case 'created':
    case 'replaced': {
      const { tally }: { tally: 1 } = outcome
      return `${outcome.result} ${tally}`
    }
    case 'merged':
    case 'kept':
      return `${outcome.result} ${outcome.tally} ${outcome.dueAt.getTime() - START}`
    case 'accepted':
      return outcome.result
  }
}

test('[M5] [M8] what a put answers is a union, told apart by its result', async () => {
  const { race } = openRace()
  const pool = race.pool('work')
  const told = [
    tell(await pool.put('a', { in: 50 })),
    tell(await pool.put('a', { in: 20 })),
    tell(await pool.put('a', { in: 90, onConflict: 'replace' })),
    tell(await pool.put('a', { onConflict: 'keep' })),
    tell({ result: 'accepted' }),
  ]
  assert.deepEqual(told, ['created 1', 'merged 2 20', 'replaced 1', 'kept 1 90', 'accepted'])
  await race.stop()
})

test('[M14] [M15] a handler sees every payload that its run stands for, and the dead keep them', async () => {
  const { race, clock } = openRace()
  const pool = race.pool('mails', { payloads: 'all' })
  const runs: Pick<Run, 'tally' | 'payload' | 'payloads'>[] = []
  race.work(pool, ({ tally, payload, payloads }) => {
    runs.push({ tally, payload, payloads })
    return dead('no address')
  })
  await pool.putAll([{ key: 'ann', payload: 1 }, { key: 'ann' }, { key: 'ann', payload: { n: 2 } }])
  await race.start()
  await clock.advance(100)
  assert.deepEqual(runs, [{ tally: 3, payload: { n: 2 }, payloads: [1, { n: 2 }] }])
  assert.deepEqual((await pool.dead.list())[0]?.payloads, [1, { n: 2 }])
  await race.stop()
})

test('[M16] a put that an entry has no room for is refused with pool, key, limit and remedy', async () => {
  const { race } = openRace()
  const pool = race.pool('mails', { payloads: 'all' })
  await pool.putAll(Array.from({ length: 1000 }, (_, payload) => ({ key: 'ann', payload })))
  const [refused, other] = await Promise.allSettled([pool.put('ann', { payload: 1 }), pool.put('bob')])
  assert.ok(refused.status === 'rejected' && other.status === 'fulfilled')
  const { code, message, remedy } = refused.reason as { code: string; message: string; remedy: string }
  assert.deepEqual(
    [code, message],
    ['payloads_full', 'the entry ann of the pool mails would hold more than 1000 payloads'],
  )
  assert.match(remedy, /put again when it has run/)
  assert.throws(() => race.pool('each', { mode: 'each', payloads: 'all' }), { code: 'invalid_options' })
  await race.stop()
})

test('[M10] a longest wait is refused without replace, in mode each, and as 0', async () => {
  const { race } = openRace()
  const bounded = { in: 500, longestWait: '1s' } as const
  await assert.rejects(race.pool('work').put('a', bounded), { code: 'invalid_input', message: /without/ })
  const each = race.pool('each', { mode: 'each' })
  await assert.rejects(each.put('a', { ...bounded, onConflict: 'replace' }), { message: /mode each/ })
  const zero = { longestWait: 0, onConflict: 'replace' } as const
  await assert.rejects(race.pool('work').put('a', zero), { message: /of 0/ })
  const { dueAt } = await race.pool('work').put('a', { in: '1h', longestWait: '1s', onConflict: 'replace' })
  assert.equal(dueAt.getTime(), START + 1000)
  await race.stop()
})

test('[M11] a worker runs a key of a throttled pool at once, and then once in each window', async () => {
  const { race, clock } = openRace()
  const pool = race.pool('feeds', { throttle: '10s' })
  const runs: [number, number][] = []
  race.work(pool, ({ tally }) => void runs.push([Math.round((clock.now() - START) / 1000), tally]))
  await race.start()
  for (let second = 0; second < 25; second += 1) {
    await pool.put('a')
    await clock.advance(1000)
  }
  assert.deepEqual(runs, [
    [0, 1],
    [10, 10],
    [20, 10],
  ])
  await race.stop()
})
