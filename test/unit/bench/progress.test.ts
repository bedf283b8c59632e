import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Progress, type ProgressStream, formatBar } from '../../../bench/progress.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const posts = { title: 'posts', seconds: 30 }
const bulk = { title: 'bulk', seconds: 10 }

class Written implements ProgressStream {
  readonly columns = 80
  readonly isTTY: boolean
  readonly texts: string[] = []

  constructor(isTTY: boolean) {
    this.isTTY = isTTY
  }

  write(text: string): void {
    this.texts.push(text)
  }
}

test('without a terminal there is a line for each phase and no bar', async () => {
  const clock = new VirtualClock()
  const stream = new Written(false)
  const progress = new Progress([posts, bulk], stream, clock)
  progress.begin(posts)
  await clock.advance(5000)
  progress.say('round 1')
  progress.end()
  assert.deepEqual(stream.texts, ['posts: starts\n', 'posts: round 1\n'])
})

test('in a terminal the bar moves by itself, and waits at the end of a step that takes too long', async () => {
  const clock = new VirtualClock()
  const stream = new Written(true)
  const progress = new Progress([posts, bulk], stream, clock)
  progress.begin(posts)
  await clock.advance(20_000)
  assert.match(stream.texts.at(-1) ?? '', / 50 % posts: starts$/)
  await clock.advance(40_000)
  assert.match(stream.texts.at(-1) ?? '', / 75 % posts: starts$/)
  progress.begin(bulk)
  await clock.advance(5000)
  assert.match(stream.texts.at(-1) ?? '', /88 % bulk: starts$/)
  progress.end()
  const drawn = stream.texts.length
  await clock.advance(5000)
  assert.equal(stream.texts.length, drawn)
})

test('the bar is as full as its share', () => {
  assert.equal(formatBar(0), `${'░'.repeat(24)}   0 %`)
  assert.equal(formatBar(0.5), `${'█'.repeat(12)}${'░'.repeat(12)}  50 %`)
  assert.equal(formatBar(1), `${'█'.repeat(24)} 100 %`)
})
