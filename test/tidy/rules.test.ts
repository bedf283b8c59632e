// Every rule, first on samples that it must refuse and accept, then on the tree.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { callRules } from './rules/calls.ts'
import { directionRules } from './rules/direction.ts'
import { markRules } from './rules/marks.ts'
import { nameRules } from './rules/names.ts'
import { sizeRules } from './rules/size.ts'
import { sqlRules } from './rules/sql.ts'
import { unawareRules } from './rules/unaware.ts'
import type { File } from './rule.ts'
import { readTree } from './tree.ts'

const rules = [
  ...sizeRules,
  ...nameRules,
  ...directionRules,
  ...callRules,
  ...unawareRules,
  ...sqlRules,
  ...markRules,
]
const tree = readTree()
const show = ({ path, text }: File): string => `${path}\n${text.slice(0, 200)}`

for (const rule of rules) {
  describe(rule.title, () => {
    test('the rule refuses each bad sample', () => {
      assert.ok(rule.bad.length > 0, 'a rule without a bad sample may be unable to fail')
      for (const sample of rule.bad) {
        assert.ok(rule.appliesTo(sample.path), `does not look at ${sample.path}`)
        assert.notDeepEqual(rule.check(sample), [], `accepts ${show(sample)}`)
      }
    })

    test('the rule accepts each good sample', () => {
      for (const sample of rule.good) assert.deepEqual(rule.check(sample), [], `refuses ${show(sample)}`)
    })

    test('the tree keeps the rule', () => {
      const faults = tree
        .filter(({ path }) => rule.appliesTo(path))
        .flatMap((file) => rule.check(file).map((fault) => `${file.path}: ${fault}`))
      assert.equal(faults.join('\n'), '')
    })
  })
}
