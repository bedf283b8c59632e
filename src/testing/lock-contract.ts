// What every store must do with named locks: rules [N1] to [N3] of docs/spec/roster.md.
import assert from 'node:assert/strict'
import { type Case, type OpenSubject, registerCases } from './contract.ts'
import { START } from './virtual-clock.ts'

const ask = (holder: string, name = 'report'): { name: string; holder: string; ttlMs: number } => ({
  name,
  holder,
  ttlMs: 1000,
})

const cases: Case[] = [
  {
    title: '[N1] a lock has one holder until it expires, and the next one gets a higher token',
    run: async ({ store: { locks }, clock }) => {
      const first = await locks.acquire(ask('a'))
      assert.deepEqual(first, { name: 'report', holder: 'a', token: 1, expiresAt: START + 1000 })
      assert.equal(await locks.acquire(ask('b')), null)
      assert.equal((await locks.acquire(ask('b', 'other')))?.token, 1)
      await clock.leap(999)
      assert.equal(await locks.acquire(ask('b')), null)
      await clock.leap(1)
      assert.equal((await locks.acquire(ask('b')))?.token, 2)
      assert.equal(await locks.acquire(ask('a')), null)
    },
  },
  {
    title: '[N1] of many that ask at once one gets it',
    run: async ({ store: { locks } }) => {
      const holders = Array.from({ length: 8 }, (_, nth) => `m${nth}`)
      const answers = await Promise.all(holders.map((holder) => locks.acquire(ask(holder))))
      assert.equal(answers.filter((lock) => lock !== null).length, 1)
    },
  },
  {
    title: '[N2] the holder renews and keeps its token; after it expired it gets a new one',
    run: async ({ store: { locks }, clock }) => {
      await locks.acquire(ask('a'))
      await clock.leap(600)
      assert.deepEqual(await locks.acquire(ask('a')), {
        name: 'report',
        holder: 'a',
        token: 1,
        expiresAt: START + 1600,
      })
      await clock.leap(1000)
      assert.equal((await locks.acquire(ask('a')))?.token, 2)
    },
  },
  {
    title: '[N3] giving back frees the lock if it still is the holder’s, and the next token is higher',
    run: async ({ store: { locks }, clock }) => {
      await locks.acquire(ask('a'))
      assert.equal(await locks.release('report', 'b'), false)
      assert.deepEqual((await locks.held()).length, 1)
      assert.equal(await locks.release('report', 'a'), true)
      assert.equal(await locks.release('report', 'a'), false)
      assert.deepEqual(await locks.held(), [])
      assert.equal((await locks.acquire(ask('b')))?.token, 2)
      await clock.leap(1000)
      assert.equal(await locks.release('report', 'b'), false)
      assert.equal(await locks.release('none', 'b'), false)
    },
  },
  {
    title: '[N3] a lock that was given back stays free when the clock is set back',
    run: async ({ store: { locks }, clock }) => {
      await locks.acquire(ask('a'))
      await locks.release('report', 'a')
      clock.jumpWall(-3_600_000)
      assert.deepEqual(await locks.held(), [])
      assert.equal((await locks.acquire(ask('b')))?.token, 2)
    },
  },
]

export function lockContract(suite: string, open: OpenSubject): void {
  registerCases(`${suite}: locks`, open, cases)
}
