// PATCH /v1/pools/:pool/entries/:key, and `move` of the client and the command line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../../src/client/client.ts'
import { dead } from '../../../src/pool/answer.ts'
import { runProgram } from '../cli/run-cli.ts'
import { type Answer, type Serving, ask, assertProblem, serve, until } from './serving.ts'

const AT = '2099-02-28T14:16:00.000Z'
const TO = '2099-03-01T00:00:00.000Z'

function patch(serving: Serving, path: string, body: unknown): Promise<Answer> {
  return ask(serving, 'PATCH', `/v1/pools/${path}`, { body: JSON.stringify(body) })
}

test('[C2] an entry is moved by its key, and keeps its payload and tally', async (t) => {
  const serving = await serve(t)
  const vms = createClient({ server: serving.url }).pools.of('vms')
  await serving.race.pool('vms').put('a', { at: AT, payload: 1 })
  await serving.race.pool('vms').put('a', { at: AT })
  const moved = { key: 'a', at: null, dueAt: TO, tally: 2, result: 'replaced' }
  const { status, body } = await patch(serving, 'vms/entries/a', { at: TO })
  assert.deepEqual([status, body], [200, moved])
  assert.deepEqual(await vms.move('a', { from: null, to: AT }), { ...moved, dueAt: AT })
  const { stdout } = await runProgram(['pool', 'move', 'vms', 'a', '--to', TO], {
    env: { HEADRACE_SERVER: serving.url },
  })
  assert.equal(stdout, `replaced  a  ${TO}  tally 2\n`)
  const { payload, dueAt } = await vms.get('a')
  assert.deepEqual([payload, dueAt], [1, TO])
})

test('[C2] in mode each an entry is moved by its time, and not onto another one', async (t) => {
  const serving = await serve(t)
  const pool = serving.race.pool('reports', { mode: 'each' })
  await pool.putAll([{ key: 'r', at: AT }])
  assertProblem(await patch(serving, 'reports/entries/r', { at: TO }), 400, 'invalid_input')
  const { body } = await patch(serving, `reports/entries/r?at=${AT}`, { at: TO })
  assert.deepEqual(body, { key: 'r', at: TO, dueAt: TO, tally: 1, result: 'created' })
  await pool.put('r', { at: AT })
  assertProblem(await patch(serving, `reports/entries/r?at=${AT}`, { at: TO }), 409, 'entry_exists')
})

test('[C2] what is due or absent is not moved, and what is dead is put again', async (t) => {
  const serving = await serve(t)
  const pool = serving.race.pool('vms')
  await pool.put('due')
  assertProblem(await patch(serving, 'vms/entries/due', { at: TO }), 409, 'entry_due')
  assertProblem(await patch(serving, 'vms/entries/none', { at: TO }), 404, 'entry_unknown')
  assertProblem(
    await patch(serving, 'vms/entries/due?at=2099-01-01T00:00:00Z', { at: TO }),
    400,
    'invalid_input',
  )
  for (const wrong of [{}, { at: TO, payload: 1 }, { at: 'soon' }, [TO]]) {
    assertProblem(await patch(serving, 'vms/entries/due', wrong), 400, 'invalid_input')
  }
  serving.race.work(pool, () => dead('no route'))
  await until(async () => (await pool.count()).dead === 1, 'a death')
  const { body } = await patch(serving, 'vms/entries/due', { at: TO })
  assert.deepEqual(body, { key: 'due', at: null, dueAt: TO, tally: 1, result: 'created' })
})
