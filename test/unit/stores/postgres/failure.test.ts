import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../../../src/errors.ts'
import { toHeadraceError, wasCut, wasLockedIn, wasUndone } from '../../../../src/stores/postgres/failure.ts'

const ofServer = (code: string, message = 'it broke'): Error =>
  Object.assign(new Error(message), { code, severity: 'ERROR' })

const words: [Error, string, RegExp][] = [
  [ofServer('53100'), 'store_full', /free some disk space/],
  [ofServer('55P03'), 'store_busy', /held open/],
  [ofServer('28P01'), 'store_failed', /check user and password/],
  [ofServer('3D000'), 'store_failed', /createdb/],
  [ofServer('42501'), 'store_failed', /grant/],
  [ofServer('25006'), 'store_failed', /primary/],
  [ofServer('22012'), 'store_refused', /check or a trigger/],
  [ofServer('XX000'), 'store_failed', /log of the server/],
  [
    Object.assign(new Error(''), { code: 'ECONNREFUSED', syscall: 'connect' }),
    'store_failed',
    /PostgreSQL runs/,
  ],
  [new Error('Connection terminated unexpectedly'), 'store_failed', /PostgreSQL runs/],
]

for (const [error, code, remedy] of words) {
  test(`${String(Reflect.get(error, 'code') ?? error.message)} becomes ${code}, with a remedy`, () => {
    const told = toHeadraceError(error, 'postgres://db/work')
    assert.ok(told instanceof HeadraceError)
    assert.equal(told.code, code)
    assert.match(told.message, /^postgres:\/\/db\/work: /)
    assert.match(told.remedy ?? '', remedy)
    assert.equal(told.cause, error)
  })
}

test('a defect of ours passes as it is', () => {
  const defect = new TypeError('x is not a function')
  assert.equal(toHeadraceError(defect, 'postgres://db/work'), defect)
})

test('what was certainly undone is told from what was cut with an unknown outcome', () => {
  assert.deepEqual([wasUndone(ofServer('40P01')), wasCut(ofServer('40P01'))], [true, false])
  assert.deepEqual([wasUndone(ofServer('57P01')), wasCut(ofServer('57P01'))], [false, true])
  assert.deepEqual([wasUndone(ofServer('55P03')), wasCut(ofServer('55P03'))], [false, false])
})

test('a lock is known by its table, whatever language the server speaks, and whoever has told of it', () => {
  const locked = (where?: string): Error => Object.assign(ofServer('55P03'), { where })
  const german = locked('beim Sperren von Tupel (0,1) in Relation »fence«')
  for (const error of [locked('while locking tuple (0,1) in relation "fence"'), german]) {
    assert.ok(wasLockedIn(error, 'fence'))
    assert.ok(!wasLockedIn(error, 'entry'))
    assert.ok(wasLockedIn(toHeadraceError(error, 'postgres://db/work'), 'fence'))
  }
  assert.ok(!wasLockedIn(locked(), 'fence'))
  assert.ok(!wasLockedIn(Object.assign(ofServer('57014'), { where: 'in relation "fence"' }), 'fence'))
})
