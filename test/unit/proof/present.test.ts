import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatReport, formatTable, summarize } from '../../../proof/present.ts'
import type { Finding } from '../../../proof/run-rows.ts'

const findings: Finding[] = [
  { name: 'lost', value: 0, bar: '0', holds: true, seconds: 1, detail: 'seed 7' },
  { name: 'early', value: 3, bar: '0', holds: false, seconds: 1, detail: 'tick a|b' },
  { name: 'rate', value: '9,000/s', bar: '≥ 16,000/s', holds: 'not judged', seconds: 1 },
]

test('the table aligns its columns and explains what does not hold', () => {
  assert.equal(
    formatTable(findings),
    [
      'name   value    bar         holds',
      'lost   0        0           yes',
      'early  3        0           NO',
      'rate   9,000/s  ≥ 16,000/s  not judged',
      '',
      'early: tick a|b',
    ].join('\n'),
  )
})

test('the summary ends with the line that CI adds up, and a row that was not judged is not in it', () => {
  assert.match(summarize(findings), /^1 shown, not judged: .*\n1 passed, 1 failed, 0 skipped$/)
  assert.equal(summarize(findings.slice(0, 1)), '1 passed, 0 failed, 0 skipped')
})

test('the report names commit, command, machine and date, and keeps its table whole', () => {
  const report = formatReport({
    capability: 'ticks',
    quick: true,
    commit: 'abc',
    command: 'npm run -s prove -- ticks --quick',
    machine: { cpu: 'Some CPU', cores: 2, memory: '8 GiB', os: 'Linux 6' },
    node: 'v24.0.0',
    date: '2027-02-28T14:16:00.000Z',
    rows: findings,
  })
  assert.match(report, /^# Proof: ticks\n/)
  assert.match(report, /`npm run -s prove -- ticks --quick`, a quick run/)
  assert.match(report, /\| early \| 3 \| 0 \| NO \| tick a\\\|b \|/)
  assert.match(report, /- commit: abc\n- machine: Some CPU, 2 cores, 8 GiB, Linux 6\n/)
  assert.match(report, /- date: 2027-02-28T14:16:00\.000Z\n$/)
})
