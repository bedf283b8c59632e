// The judge of a poison entry finds what it is there for. The crashes themselves are made by proof/work/poison.rows.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPoisonAlone } from './poison.ts'

const RIGHT = { crashes: 3, deaths: ['poison: crashed'], left: 0, missing: 0 }

test('[X46] [V19] an innocent death, a poison that lives, one crash too many, and a run that is left or that nobody saw end are found', () => {
  assert.ok(isPoisonAlone(RIGHT))
  assert.ok(!isPoisonAlone({ ...RIGHT, deaths: ['innocent-1: crashed', 'poison: crashed'] }))
  assert.ok(!isPoisonAlone({ ...RIGHT, deaths: ['poison: attempts'] }))
  assert.ok(!isPoisonAlone({ ...RIGHT, deaths: [] }))
  assert.ok(!isPoisonAlone({ ...RIGHT, crashes: 4 }))
  assert.ok(!isPoisonAlone({ ...RIGHT, left: 1 }))
  assert.ok(!isPoisonAlone({ ...RIGHT, missing: 1 }))
})
