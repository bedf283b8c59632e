// When somebody who keeps removed rows is worth a word.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { horizonFinding } from '../../../../src/stores/postgres/horizon.ts'

const DUMP = {
  kind: 'transaction',
  name: 'pg_dump',
  pid: 4711,
  state: 'active',
  for_ms: 7_200_000,
  removed: 12_000_000,
}

test('an old transaction that keeps many removed rows is named, with its remedy', () => {
  const { ok, detail, remedy } = horizonFinding(DUMP)
  assert.equal(ok, false)
  assert.equal(
    detail,
    'the transaction of pg_dump (pid 4711, active, open for 7200 s) keeps the server from taking removed rows away; 12,000,000 removed rows wait to be taken away',
  )
  assert.equal(remedy, 'let it end, or end it: select pg_terminate_backend(4711)')
})

test('a prepared transaction and a replication slot have remedies of their own', () => {
  const prepared = horizonFinding({
    ...DUMP,
    kind: 'prepared transaction',
    name: 'g1',
    pid: null,
    state: null,
  })
  assert.match(prepared.remedy ?? '', /rollback prepared 'g1'/)
  const slot = { ...DUMP, kind: 'replication slot', name: 's1', pid: null, state: 'inactive', for_ms: null }
  assert.match(horizonFinding(slot).remedy ?? '', /pg_drop_replication_slot\('s1'\)/)
})

test('neither a young transaction nor few removed rows are worth a word', () => {
  assert.equal(horizonFinding({ ...DUMP, for_ms: 1000 }).ok, true)
  assert.equal(horizonFinding({ ...DUMP, removed: 10 }).ok, true)
  assert.equal(horizonFinding({ ...DUMP, kind: null }).ok, true)
})
