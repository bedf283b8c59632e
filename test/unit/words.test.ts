// Durations, and the word that was probably meant.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toMs } from '../../src/duration.ts'
import { nearest } from '../../src/nearest.ts'

const durations: [text: string | number, ms: number][] = [
  ['250ms', 250],
  ['10s', 10_000],
  ['1.5s', 1500],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  [' 5m ', 300_000],
  ['0ms', 0],
  ['0.0004s', 0],
  [1500, 1500],
  [0, 0],
  ['3650d', 315_360_000_000],
]

for (const [text, ms] of durations) {
  test(`the duration ${JSON.stringify(text)} is ${ms} ms`, () => assert.equal(toMs(text), ms))
}

for (const text of ['', '10', 'ten', '5 m', '-5m', '5w', '1e3ms', '3651d', -1, Number.NaN, Infinity]) {
  test(`the duration ${String(text)} is refused with an example`, () => {
    assert.throws(() => toMs(text), { code: 'invalid_options', remedy: /'250ms'/ })
  })
}

const meant: [word: string, meant: string | null][] = [
  ['prot', 'port'],
  ['Port', 'port'],
  ['partition', 'partitions'],
  ['retentoin', 'retention'],
  ['xyzzyplugh', null],
]

for (const [word, near] of meant) {
  test(`${word} probably means ${near ?? 'nothing that is known'}`, () => {
    assert.equal(nearest(word, ['port', 'partitions', 'retention']), near)
  })
}
