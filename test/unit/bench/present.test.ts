import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BenchDocument, formatBench } from '../../../bench/present.ts'

const document: BenchDocument = {
  bench: 'ticks',
  quick: false,
  machine: { cpu: 'Some CPU', cores: 2, memory: '8 GiB', os: 'Linux 6', busyBefore: 3 },
  node: 'v24.0.0',
  rows: [
    { name: 'posts', value: 21_000, unit: '/s' },
    { name: 'late', value: 7.5, unit: 'ms' },
  ],
  bars: [
    { name: 'posts', value: 21_000, bar: '≥ 16,000/s', holds: true },
    { name: 'late', value: 30, bar: '≤ 25 ms', holds: false },
  ],
}

test('the table names the machine, aligns values and shouts what does not hold', () => {
  assert.equal(
    formatBench(document),
    [
      'ticks: Some CPU, 2 cores (3 % busy before), 8 GiB, Linux 6, Node v24.0.0',
      '',
      'measured     value',
      'posts     21,000/s',
      'late        7.5 ms',
      '',
      'bar     value  must be     holds',
      'posts  21,000  ≥ 16,000/s  yes',
      'late       30  ≤ 25 ms     NO',
    ].join('\n'),
  )
})

test('a quick run says that it judges nothing', () => {
  assert.match(formatBench({ ...document, quick: true }), /\n\nA quick run: .* no speed is judged\.$/)
})
