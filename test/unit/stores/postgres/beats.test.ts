import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Beats, MOST_COUNTED, noteBeat } from '../../../../src/stores/postgres/pulse.ts'

test('the beats of members that are gone are forgotten, and those of one that goes on are not', () => {
  const beats: Beats = new Map()
  for (let count = 1; count <= 2 * MOST_COUNTED; count += 1) {
    noteBeat(beats, 'stays', { count, generation: 'g', life: 'l' })
    noteBeat(beats, `comes ${count}`, { count: 1, generation: 'g', life: 'l' })
  }
  assert.equal(beats.size, MOST_COUNTED)
  assert.equal(beats.get('stays')?.count, 2 * MOST_COUNTED)
})
