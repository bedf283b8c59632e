import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  escapeControls,
  formatDuration,
  formatFields,
  formatTable,
  groupDigits,
  hasColor,
} from '../../../src/cli/output.ts'

test('durations are short and have at most two units', () => {
  const samples: [number, string][] = [
    [0, '0ms'],
    [340, '340ms'],
    [4200, '4.2s'],
    [30_000, '30s'],
    [192_000, '3m12s'],
    [182_000, '3m02s'],
    [3_600_000, '1h'],
    [604_800_000, '7d'],
    [90_000_000, '1d01h'],
  ]
  for (const [ms, text] of samples) assert.equal(formatDuration(ms), text)
})

test('counts are grouped by three', () => {
  assert.deepEqual([0, 999, 1000, 12_400, 1_000_000].map(groupDigits), [
    '0',
    '999',
    '1 000',
    '12 400',
    '1 000 000',
  ])
})

test('a table is as wide as its widest texts, and cuts nothing', () => {
  const long = 'x'.repeat(300)
  const text = formatTable(
    [
      { title: 'name', text: ({ name }: { name: string; count: string }) => name },
      { title: 'count', align: 'right', text: ({ count }) => count },
    ],
    [
      { name: long, count: '7' },
      { name: 'b', count: '1234567' },
    ],
  )
  const lines = text.split('\n')
  assert.equal(lines[0], `${'name'.padEnd(300)}    count`)
  assert.equal(lines[1], `${long}        7`)
  assert.equal(lines[2], `${'b'.padEnd(300)}  1234567`)
})

test('control characters of every kind are shown, not sent, and all else stays as it is', () => {
  const controls = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index)]
  for (const code of controls) {
    const text = escapeControls(`a${String.fromCharCode(code)}b`)
    assert.match(text, /^a\\(u00[0-9a-f]{2}|[bfnrt])b$/)
    assert.equal(JSON.parse(`"${text}"`), `a${String.fromCharCode(code)}b`)
  }
  assert.equal(escapeControls('Grüße, 世界 \\ 🙂'), 'Grüße, 世界 \\ 🙂')
  const table = formatTable([{ title: 'item', text: (item: string) => item }], ['\u001b[2J\n', 'b'])
  assert.equal(table, 'item\n\\u001b[2J\\n\nb')
})

test('fields are aligned at their values', () => {
  assert.equal(
    formatFields([
      ['a', '1'],
      ['long', '2'],
    ]),
    'a     1\nlong  2',
  )
})

test('colours are for terminals, and NO_COLOR and --no-color switch them off', () => {
  const terminal = { write: () => true, isTTY: true }
  const pipe = { write: () => true }
  assert.equal(hasColor(terminal, { env: {}, asked: true }), true)
  assert.equal(hasColor(pipe, { env: {}, asked: true }), false)
  assert.equal(hasColor(pipe, { env: { FORCE_COLOR: '1' }, asked: true }), true)
  assert.equal(hasColor(terminal, { env: { NO_COLOR: '1' }, asked: true }), false)
  assert.equal(hasColor(terminal, { env: {}, asked: false }), false)
})
