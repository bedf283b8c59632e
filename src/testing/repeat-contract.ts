// Requests with an id: the same id is answered from what was kept, so that a retry puts nothing twice.
import assert from 'node:assert/strict'
import type { PutResponse } from '../pool/store.ts'
import type { Case } from './contract.ts'
import { asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const REPEAT = { id: 'request-1', fingerprint: 'print-1', keepMs: 600_000 }

function answered(result: 'created' | 'merged', tally: number, replayed: boolean): PutResponse {
  return { kind: 'answered', answers: [{ result, dueAt: START + 9, tally }], replayed }
}

export const repeatCases: Case[] = [
  {
    title: '[R2] a repeated request is answered as before and puts nothing',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const puts = [asPut('a', { at: START + 9 })]
      assert.deepEqual(await pool.request(puts, REPEAT), answered('created', 1, false))
      await pool.put('a', { at: START + 5 })
      await clock.leap(1)
      assert.deepEqual(await pool.request(puts, REPEAT), answered('created', 1, true))
      assert.equal((await pool.get('a')).next.tally, 2)
    },
  },
  {
    title: '[R2] a repeat after its entry ran is answered as before and does not run again',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const first = await pool.request([asPut('a')], REPEAT)
      await pool.settle(await pool.takeOne(), { kind: 'done' })
      assert.deepEqual(await pool.request([asPut('a')], REPEAT), { ...first, replayed: true })
      assert.equal(await pool.find('a'), null)
    },
  },
  {
    title: '[R2] of two requests with one id in one call the second is a repeat',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const request = { puts: [asPut('a', { at: START + 9 })], repeat: REPEAT }
      const responses = await pool.requests([request, request])
      assert.deepEqual(responses, [answered('created', 1, false), answered('created', 1, true)])
    },
  },
  {
    title: '[R2] of concurrent requests with one id exactly one puts',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const puts = [asPut('a', { at: START + 9 })]
      const responses = await Promise.all(Array.from({ length: 20 }, () => pool.request(puts, REPEAT)))
      const first = responses.filter((response) => response.kind === 'answered' && !response.replayed)
      assert.equal(first.length, 1)
      assert.equal((await pool.get('a')).next.tally, 1)
    },
  },
  {
    title: '[R3] the same id with another fingerprint is a mismatch and does nothing',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.request([asPut('a')], REPEAT)
      const other = { ...REPEAT, fingerprint: 'print-2' }
      assert.deepEqual(await pool.request([asPut('b')], other), { kind: 'mismatch' })
      assert.equal(await pool.find('b'), null)
      assert.equal((await pool.get('a')).next.tally, 1)
    },
  },
  {
    title: '[R4] answers are kept for as long as the request asked, and then the id is new',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const puts = [asPut('a', { at: START + 9 })]
      const repeat = { ...REPEAT, keepMs: 1000 }
      await pool.request(puts, repeat)
      await clock.leap(999)
      const last = await pool.request(puts, repeat)
      assert.ok(last.kind === 'answered' && last.replayed)
      await clock.leap(1)
      const renewed = await pool.request(puts, { ...repeat, fingerprint: 'print-2' })
      assert.ok(renewed.kind === 'answered' && !renewed.replayed)
      assert.equal((await pool.get('a')).next.tally, 2)
    },
  },
  {
    title: '[R4] an id is known to its pool only',
    run: async ({ store }) => {
      const left = await openPool(store, { name: 'left' })
      const right = await openPool(store, { name: 'right' })
      await left.request([asPut('a')], REPEAT)
      const response = await right.request([asPut('a')], REPEAT)
      assert.ok(response.kind === 'answered' && !response.replayed)
      assert.notEqual(await right.find('a'), null)
    },
  },
]
