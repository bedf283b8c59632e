// pool.add: work without a key of its own. And what the type of a pool allows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headrace } from '../../../src/index.ts'

test('three adds are three runs, each under a key of its own that is answered', async () => {
  await using race = await headrace({ store: 'memory:' })
  const mails = race.pool<{ to: string }>('mails')
  const seen: string[] = []
  const finished = Promise.withResolvers<void>()
  race.work(mails, ({ key, payload }) => {
    seen.push(`${key} ${payload.to}`)
    if (seen.length === 3) finished.resolve()
  })
  const added = await Promise.all(['ann', 'bob', 'ann'].map((to) => mails.add({ to }, { group: 'g' })))
  assert.deepEqual(
    added.map(({ result, tally }) => [result, tally]),
    added.map(() => ['created', 1]),
  )
  assert.equal((await mails.get(added[0]?.key ?? ''))?.group, 'g')
  await race.start()
  await finished.promise
  const names = ['ann', 'bob', 'ann'].map((to, nth) => `${added[nth]?.key} ${to}`)
  assert.deepEqual(seen.toSorted(), names.toSorted())
})

test('add refuses what only puts of one key can mean', async () => {
  await using race = await headrace({ store: 'memory:' })
  const options = { onConflict: 'replace' } as never
  await assert.rejects(race.pool('mails').add(1, options), { code: 'invalid_options', message: /onConflict/ })
})

test('a payload may be left out only where the type of the pool says so', async () => {
  await using race = await headrace({ store: 'memory:' })
  const sized = race.pool<{ size: number }>('sized')
  const loose = race.pool<string | undefined>('loose')
  // What is checked here is that it compiles, and that the lines below would not.
  const compiles = async (): Promise<void> => {
    await sized.put('a', { payload: { size: 1 } })
    await sized.putAll([{ key: 'a', payload: { size: 1 } }])
    await loose.put('a')
    race.work(sized, ({ payload }) => void payload.size.toFixed())
    // @ts-expect-error the payload is missing
    await sized.put('a')
    // @ts-expect-error the payload is missing
    await sized.put('a', { in: '1s' })
    // @ts-expect-error the payload is missing
    await sized.putAll([{ key: 'a' }])
    // @ts-expect-error a size is a number
    await sized.add({ size: 'x' })
  }
  assert.equal(typeof compiles, 'function')
})

test('a put that replaces the payload of another is reported once for each pool', async () => {
  await using race = await headrace({ store: 'memory:' })
  const reported: string[] = []
  race.telemetry.on('pool.payload-replaced', ({ pool, key }) => void reported.push(`${pool} ${key}`))
  const mails = race.pool('mails')
  await mails.put('a', { in: '1m' })
  await mails.put('a', { in: '1m' })
  assert.deepEqual(reported, [])
  await mails.put('send', { payload: 1, in: '1m' })
  await mails.put('send', { payload: 2, in: '1m' })
  await mails.put('send', { payload: 3, in: '1m' })
  await race.pool('all', { payloads: 'all' }).put('send', { payload: 1, in: '1m' })
  await race.pool('all').put('send', { payload: 2, in: '1m' })
  assert.deepEqual(reported, ['mails send'])
})

test('null for the options of a put, or for its trace, is refused with a code', async () => {
  await using race = await headrace({ store: 'memory:' })
  const pool = race.pool('mails')
  // Types do not hold callers from JavaScript.
  const trace = null as never
  await assert.rejects(pool.put('a', null as never), { code: 'invalid_options', message: /are null/ })
  await assert.rejects(pool.put('a', { trace }), {
    code: 'invalid_input',
    message: /trace\.traceparent is missing/,
  })
  await assert.rejects(pool.add(1, { trace }), { code: 'invalid_input' })
  await assert.rejects(pool.putAll([{ key: 'a', trace }]), { code: 'invalid_input' })
})
