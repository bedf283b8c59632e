// /v1/pools/:pool/dead: what was given up.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { dead } from '../../../src/pool/answer.ts'
import { type Answer, type Serving, ask, assertProblem, serve, until } from './serving.ts'

/** A server over a pool whose worker gives everything up, until it is mended. */
async function serveDead(t: TestContext, keys: string[]): Promise<Serving & { mend(): void }> {
  const serving = await serve(t)
  const pool = serving.race.pool('vms')
  let isMended = false
  const handler = ({ key }: { key: string }): undefined | ReturnType<typeof dead> => {
    if (isMended) return undefined
    if (key === 'x') return dead('unknown customer')
    throw new TypeError(`no route to ${key}`)
  }
  serving.race.work(pool, handler, { retry: { attempts: 1 } })
  await pool.putAll(keys.map((key) => ({ key, payload: { key } })))
  await until(async () => (await pool.count()).dead === keys.length, 'deaths')
  return { ...serving, mend: () => void (isMended = true) }
}

function send(serving: Serving, path: string, value?: unknown): Promise<Answer> {
  const url = `/v1/pools/vms/dead${path}`
  return value === undefined
    ? ask(serving, 'GET', url)
    : ask(serving, 'POST', url, { body: JSON.stringify(value) })
}

interface DeadItem {
  key: string
  reason: string
  error: string | null
  kind: string
  payload: unknown
}

async function list(serving: Serving, query = ''): Promise<DeadItem[]> {
  const { body, status } = await send(serving, query)
  assert.equal(status, 200, JSON.stringify(body))
  return body['items'] as DeadItem[]
}

test('the dead are listed with reason, error and payload, by filters and pages', async (t) => {
  const serving = await serveDead(t, ['vm-1', 'vm-2', 'x'])
  const [x] = await list(serving, '?key=x')
  assert.deepEqual([x?.reason, x?.error, x?.payload], ['unknown customer', null, { key: 'x' }])
  const failed = await list(serving, '?error=no%20route&reason=attempts')
  assert.deepEqual(failed.map(({ key }) => key).toSorted(), ['vm-1', 'vm-2'])
  assert.equal((await list(serving, `?kind=${failed[0]?.kind}`)).length, 2)
  assert.equal((await list(serving, '?before=2020-01-01T00:00:00Z')).length, 0)
  const met = new Set<string>()
  let after = ''
  for (let page = 0; page < 3; page += 1) {
    const { body } = await send(serving, `?limit=1${after}`)
    for (const { key } of body['items'] as DeadItem[]) met.add(key)
    after = `&after=${String(body['next'])}`
  }
  assert.deepEqual([[...met].toSorted(), after], [['vm-1', 'vm-2', 'x'], '&after=null'])
  assertProblem(await send(serving, '?after=null'), 400, 'invalid_input')
})

test('kinds say how many died of the same', async (t) => {
  const serving = await serveDead(t, ['vm-1', 'vm-2', 'x'])
  const { items, next } = (await send(serving, '/kinds')).body as {
    items: Record<string, unknown>[]
    next: null
  }
  assert.equal(next, null)
  assert.deepEqual(
    items.map(({ error, count, reason }) => [reason, error, count]),
    [
      ['attempts', 'TypeError: no route to vm-#', 2],
      ['unknown customer', null, 1],
    ],
  )
  assert.deepEqual((items.at(0)?.['keys'] as string[] | undefined)?.toSorted(), ['vm-1', 'vm-2'])
})

test('a kind is redriven, and the records of what lives again can be removed', async (t) => {
  const serving = await serveDead(t, ['vm-1', 'vm-2', 'x'])
  const [{ kind } = { kind: '' }] = await list(serving, '?key=vm-1')
  serving.mend()
  assert.deepEqual((await send(serving, '/redrive', { kind })).body, { redriven: 2, next: null })
  const pool = serving.race.pool('vms')
  await until(async () => (await pool.count()).dead === 1 && (await pool.get('vm-1')) === null, 'runs')
  assert.equal((await list(serving)).length, 3)
  const removed = await send(serving, '/remove', { kind })
  assert.deepEqual(removed.body, { deaths: 2, entries: 0, next: null })
  assert.deepEqual((await send(serving, '/remove', { all: true })).body, {
    deaths: 1,
    entries: 1,
    next: null,
  })
  assert.equal(await pool.get('x'), null)
})

test('whoever names none of the dead is refused, and nothing is done', async (t) => {
  const serving = await serveDead(t, ['x'])
  for (const body of [
    {},
    { all: false },
    { all: true, key: 'x' },
    { keys: 'x' },
    { key: 7 },
    { after: 'x', key: 'x' },
  ]) {
    for (const path of ['/redrive', '/remove']) {
      assertProblem(await send(serving, path, body), 400, 'invalid_input')
    }
  }
  assert.equal((await serving.race.pool('vms').count()).dead, 1)
})
