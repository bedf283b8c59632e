// What every store must tell of itself when it is inspected.
import assert from 'node:assert/strict'
import { type Case, type OpenSubject, registerCases } from './contract.ts'

const cases: Case[] = [
  {
    title: 'a store that works finds nothing wrong with itself, and says what it looked at',
    run: async ({ store }) => {
      const findings = await store.inspect()
      assert.ok(findings.length > 0)
      for (const { check, ok, detail, remedy } of findings) {
        assert.deepEqual([check, ok, remedy], [check, true, null], detail)
        assert.ok(check !== '' && detail !== '')
      }
    },
  },
]

export function inspectContract(store: string, open: OpenSubject): void {
  registerCases(`${store}: inspection`, open, cases)
}
