import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProofResult, ProofRow } from '../../../proof/row.ts'
import { runRows, type Finding } from '../../../proof/run-rows.ts'

const row = (name: string, result: ProofResult, more: Partial<ProofRow> = {}): ProofRow => ({
  name,
  bar: '1',
  run: () => Promise.resolve(result),
  ...more,
})

const quiet = { quick: false, progress: () => undefined }
const brief = (findings: Finding[]): unknown[] =>
  findings.map(({ name, value, holds }) => [name, value, holds])

test('rows run one after another, in order', async () => {
  const steps: string[] = []
  const step = (name: string): ProofRow =>
    row(
      name,
      { value: 1, holds: true },
      {
        async run() {
          steps.push(`${name} begins`)
          await new Promise((done) => setImmediate(done))
          steps.push(`${name} ends`)
          return { value: 1, holds: true }
        },
      },
    )
  await runRows([step('a'), step('b')], quiet)
  assert.deepEqual(steps, ['a begins', 'a ends', 'b begins', 'b ends'])
})

test('a row that throws does not hold, and the rows after it still run', async () => {
  const thrower = row('a', { value: 1, holds: true }, { run: () => Promise.reject(new Error('broke')) })
  const findings = await runRows([thrower, row('b', { value: 2, holds: true })], quiet)
  assert.deepEqual(brief(findings), [
    ['a', 'threw', false],
    ['b', 2, true],
  ])
  assert.match(findings[0]?.detail ?? '', /broke/)
})

test('a quick run shows a speed row without judging it, and judges it when it throws', async () => {
  const slow = row('slow', { value: 5, holds: false }, { speed: true })
  const thrower = row(
    'thrower',
    { value: 5, holds: true },
    { speed: true, run: () => Promise.reject(new Error('x')) },
  )
  assert.deepEqual(brief(await runRows([slow, thrower], { ...quiet, quick: true })), [
    ['slow', 5, 'not judged'],
    ['thrower', 'threw', false],
  ])
  assert.deepEqual(brief(await runRows([slow], quiet)), [['slow', 5, false]])
})

test('a quick run leaves out the rows that say so', async () => {
  const long = row('long', { value: 1, holds: true }, { quick: false })
  assert.deepEqual(await runRows([long], { ...quiet, quick: true }), [])
  assert.equal((await runRows([long], quiet)).length, 1)
})

test('only rows whose name contains the text are run', async () => {
  const rows = [row('Ticks lost', { value: 0, holds: true }), row('other', { value: 0, holds: true })]
  assert.deepEqual(brief(await runRows(rows, { ...quiet, only: 'ticks' })), [['Ticks lost', 0, true]])
})

test('a row knows whether the run is quick, and its progress carries its name', async () => {
  const said: string[] = []
  const talker = row(
    'a',
    { value: 0, holds: true },
    {
      run({ quick, progress }) {
        progress(`quick is ${quick}`)
        return Promise.resolve({ value: 0, holds: true })
      },
    },
  )
  await runRows([talker], { quick: true, progress: (name, text) => said.push(`${name}: ${text}`) })
  assert.deepEqual(said, ['a: runs', 'a: quick is true'])
})
