// Names in paths and queries: checked before the store is asked, on every route.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERROR_CODES, type ErrorCode, HeadraceError } from '../../../src/errors.ts'
import { ask, serve } from './serving.ts'

const HOSTILE = ['%00', 'a%00b', 'x'.repeat(2000), '%F0%9F%92%A9'.repeat(200), '%EF%BF%BD%00']

test('a name that no store can hold is refused before the store, on every route that takes one', async (t) => {
  const serving = await serve(t)
  const routes = serving.server.routes.filter(({ url }) => url.includes(':'))
  assert.ok(routes.length >= 15)
  const { store } = serving.race
  const ask0 = store.log.topic.bind(store.log)
  const asked: string[] = []
  store.log.topic = (name) => (asked.push(name), ask0(name))
  for (const { method, url } of routes) {
    for (const name of HOSTILE) {
      const path = url.replaceAll(/:\w+/g, name)
      const { status, body } = await ask(serving, method, path)
      assert.ok(status === 400 || status === 404, `${method} ${path.slice(0, 80)}: ${status}`)
      assert.equal(typeof body['remedy'], 'string')
    }
  }
  assert.deepEqual(asked, [])
})

const codesOfStore = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => code.startsWith('store_'))

test('what the store says of its address is for the server, not for the client', async (t) => {
  const serving = await serve(t, { token: 'a-token-that-is-long-enough' })
  const secret = 'postgres://alice@db.internal:5432/app: invalid byte sequence'
  const headers = { authorization: 'Bearer a-token-that-is-long-enough' }
  for (const code of codesOfStore) {
    serving.race.store.log.topics = () =>
      Promise.reject(new HeadraceError(code, secret, { remedy: 'try alice@db' }))
    const { body } = await ask(serving, 'GET', '/v1/topics', { headers })
    assert.equal(body['code'], code)
    assert.doesNotMatch(JSON.stringify(body), /alice|db\.internal|5432/)
  }
})

test('every answer says that other sites may not embed it', async (t) => {
  const serving = await serve(t)
  for (const path of ['/healthy', '/v1/topics', '/', '/no/such', '/v1/topics/none', '/v1/stream']) {
    const response = await fetch(serving.url + path)
    assert.equal(response.headers.get('cross-origin-resource-policy'), 'same-origin', path)
    await response.body?.cancel()
  }
})
