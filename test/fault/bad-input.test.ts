// Bad input against a real server on a real file: each gets its problem, and nothing else is lost.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkTicks } from './check-ticks.ts'
import { ServerProcess } from './server-process.ts'
import { readStore } from './store-file.ts'
import { until } from './until.ts'
import { Witness } from './witness.ts'

const AT = '2027-02-28T14:16:00Z'
const tick = (fields: object): string => JSON.stringify({ item: 'bad', at: AT, ...fields })
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

interface Case {
  what: string
  body?: string
  status: number
  code: string
  type?: string
  path?: string
}

const invalid = { status: 400, code: 'invalid_input' }
const CASES: Case[] = [
  { what: 'an empty body', body: '', ...invalid },
  { what: 'no item', body: `{"at":"${AT}"}`, ...invalid },
  { what: 'no at', body: '{"item":"bad"}', ...invalid },
  { what: 'an item that is a number', body: tick({ item: 7 }), ...invalid },
  { what: 'an unknown field', body: tick({ itme: 'a' }), ...invalid },
  { what: 'an at that is no date', body: tick({ at: 'tomorrow' }), ...invalid },
  { what: 'an at that is NaN', body: `{"item":"bad","at":NaN}`, ...invalid },
  { what: 'the year 10000', body: tick({ at: '+010000-01-01T00:00:00Z' }), ...invalid },
  { what: 'milliseconds beyond the year 9999', body: tick({ at: 1e15 }), ...invalid },
  { what: 'an empty item', body: tick({ item: '' }), ...invalid },
  { what: 'an item of 10 kB', body: tick({ item: 'i'.repeat(10_000) }), ...invalid },
  { what: 'a lone surrogate', body: `{"item":"bad\\ud800","at":"${AT}"}`, ...invalid },
  { what: 'a NUL in the item', body: `{"item":"bad\\u0000","at":"${AT}"}`, ...invalid },
  {
    what: '__proto__ in the payload',
    body: `{"item":"bad","at":"${AT}","payload":{"__proto__":1}}`,
    ...invalid,
  },
  { what: '__proto__ as a field', body: `{"item":"bad","at":"${AT}","__proto__":{"at":1}}`, ...invalid },
  { what: 'deep nesting', body: `{"item":"bad","at":"${AT}","payload":${nested(200_000)}}`, ...invalid },
  { what: 'broken JSON', body: '{"item":', ...invalid },
  { what: 'onConflict in mode each', body: tick({ onConflict: 'keep' }), ...invalid },
  { what: 'a wrong content type', body: tick({}), type: 'text/csv', status: 415, code: 'media_type' },
  { what: 'an unknown route', body: tick({}), path: '/tick', status: 404, code: 'route_unknown' },
]

let witness: Witness
let server: ServerProcess

before(async () => {
  witness = await Witness.create()
  server = await ServerProcess.start({ file: witness.file })
  assert.equal(await server.post('before', Date.now() + 500), 202)
})

after(async () => {
  await server.kill()
  await witness[Symbol.asyncDispose]()
})

for (const { what, body = '', type = 'application/json', path = '/ticks', status, code } of CASES) {
  test(`${what} is answered with ${status} ${code}, what is wrong and what to do`, async () => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    const problem = (await response.json()) as Record<string, string>
    assert.equal(response.status, status, JSON.stringify(problem))
    assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/)
    assert.equal(problem['code'], code)
    assert.ok((problem['detail']?.length ?? 0) > 10 && (problem['remedy']?.length ?? 0) > 3)
  })
}

test('broken JSON in line 3 of a stream is an error of line 3 alone', async () => {
  const lines = [1, 2, 3, 4, 5].map((line) => (line === 3 ? '{"item":' : tick({ item: `line-${line}` })))
  const headers = { 'content-type': 'application/x-ndjson' }
  const response = await fetch(`${server.url}/ticks`, {
    method: 'POST',
    headers,
    body: `${lines.join('\n')}\n`,
  })
  const answers = (await response.text()).trimEnd().split('\n')
  const results = answers.map((text) => JSON.parse(text) as { line: number; error?: { code: string } })
  assert.deepEqual(
    results.map(({ line, error }) => [line, error?.code]),
    [
      [1, undefined],
      [2, undefined],
      [3, 'invalid_input'],
      [4, undefined],
      [5, undefined],
    ],
  )
})

test('the far past fires now and the far future waits', async () => {
  assert.equal(await server.post('past', Date.parse('0001-01-01T00:00:00Z')), 202)
  assert.equal(await server.post('future', Date.parse('9999-12-31T23:59:59Z')), 202)
  const fired = (): boolean => readStore(witness.file).events.some(({ id }) => id.startsWith('ticks/past/'))
  await until('the past tick fires', fired, 10_000)
  assert.ok([...readStore(witness.file).waiting].some((name) => name.startsWith('future/9999')))
})

test('after all bad input the good ticks, and nothing else, are in the store', async () => {
  const { events, waiting } = readStore(witness.file)
  const names = [...waiting, ...events.map(({ id }) => id.slice('ticks/'.length))]
  const items = names.map((name) => name.slice(0, name.lastIndexOf('/'))).sort()
  assert.deepEqual(items, ['before', 'future', 'line-1', 'line-2', 'line-4', 'line-5', 'past'])
  assert.deepEqual(checkTicks({ posts: [], events, waiting: new Set(), dueBefore: 0 }).early, [])
})
