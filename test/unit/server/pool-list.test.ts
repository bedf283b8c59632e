// How much is read to list pools, however many there are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changed } from '../open-race.ts'
import { ask, serve } from './serving.ts'
import { Stage } from './why/situation.ts'

test('[Z7] of more than a thousand pools the first thousand are listed, ten read at once, and how many there are is told', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  let [reading, most] = [0, 0]
  const { store } = await stage.open(({ pool }) => {
    const { control } = pool
    const read: typeof control.read = async (name) => {
      // Whose pause is also read by who moves them.
      if (name === 'ticks') return control.read(name)
      reading += 1
      most = Math.max(most, reading)
      await new Promise(setImmediate)
      reading -= 1
      return control.read(name)
    }
    return { pool: changed(pool, { control: changed(control, { read }) }) }
  })
  for (let nth = 0; nth < 1004; nth += 1) {
    await store.pool.entries.open({ name: `p${nth}`, mode: 'one', partitions: 1, rememberMs: null })
  }
  const serving = await serve(stage, {}, { store })
  most = 0
  const { body } = await ask(serving, 'GET', '/v1/pools')
  assert.equal((body['items'] as unknown[]).length, 1000)
  assert.deepEqual([body['total'], most], [1005, 10])
  const status = await ask(serving, 'GET', '/v1/status')
  assert.equal((status.body['pools'] as unknown[]).length, 1000)
  assert.equal(status.body['poolsTotal'], 1005)
})

test('[Z7] a pool that is made, asked for or put into reads that pool alone, not all that there are', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  let listed = 0
  const { store } = await stage.open(({ pool }) => {
    const { browse } = pool
    const pools: typeof browse.pools = () => {
      listed += 1
      return browse.pools()
    }
    return { pool: changed(pool, { browse: changed(browse, { pools }) }) }
  })
  const serving = await serve(stage, {}, { store })
  listed = 0
  for (let nth = 0; nth < 5; nth += 1) {
    assert.equal((await ask(serving, 'PUT', `/v1/pools/p${nth}`)).status, 200)
    assert.equal((await ask(serving, 'GET', `/v1/pools/p${nth}`)).status, 200)
    assert.equal((await ask(serving, 'PUT', `/v1/pools/p${nth}/entries/a`)).status, 202)
  }
  assert.equal(listed, 0)
  // An unknown name is answered with one that is near.
  const { body } = await ask(serving, 'GET', '/v1/pools/q1')
  assert.deepEqual([body['code'], listed], ['pool_unknown', 1])
})
