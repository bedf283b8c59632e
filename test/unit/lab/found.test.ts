// Runs that broke a promise once, made as small as they could be when they were found. What was wrong is mended: they hold.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { swarmText } from '../../../scripts/simulate-one.ts'
import { runSwarm } from '../../../src/lab/simulation/run.ts'
import type { Swarm } from '../../../src/lab/simulation/swarm.ts'

const folder = join(import.meta.dirname, 'found')

void describe('runs that were found', () => {
  for (const file of readdirSync(folder).toSorted()) {
    void test(`${file} holds`, async () => {
      const text = readFileSync(join(folder, file), 'utf8')
      const swarm = JSON.parse(text) as Swarm
      assert.equal(text, swarmText(swarm), 'write it with npm run simulate -- --swarm FILE --save FILE')
      assert.deepEqual((await runSwarm(swarm)).violations, [])
    })
  }
})
