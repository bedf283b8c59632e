import assert from 'node:assert/strict'
import { test } from 'node:test'
import { START, VirtualClock } from '../../../src/testing/virtual-clock.ts'

test('time stands still until it is advanced, and timers fire in order, each at its own time', async () => {
  const clock = new VirtualClock()
  const fired: string[] = []
  for (const ms of [30, 10, 20]) clock.timer(ms, () => fired.push(`${ms} at ${clock.mono()}`))
  assert.deepEqual([clock.now(), clock.mono(), fired.length], [START, 0, 0])
  await clock.advance(25)
  assert.deepEqual(fired, ['10 at 10', '20 at 20'])
  assert.deepEqual([clock.now(), clock.pending], [START + 25, 1])
})

test('promises settle between timers, so a chain of sleeps keeps its times', async () => {
  const clock = new VirtualClock()
  const times: number[] = []
  const walk = async (): Promise<void> => {
    for (const ms of [5, 10, 20]) {
      await clock.sleep(ms)
      await new Promise<void>((resolve) => clock.turn(resolve))
      times.push(clock.mono())
    }
  }
  const walked = walk()
  await clock.advance(100)
  await walked
  assert.deepEqual(times, [5, 15, 35])
})

test('a clock that is alone lets every promise settle, also those of a turn, before time goes on', async () => {
  const clock = new VirtualClock(1, { alone: true })
  const times: number[] = []
  const walk = async (): Promise<void> => {
    for (let nth = 0; nth < 300; nth += 1) await Promise.resolve()
    times.push(clock.mono())
  }
  clock.timer(5, () => {
    for (let nth = 0; nth < 3; nth += 1) clock.turn(() => clock.turn(() => void walk()))
  })
  clock.timer(6, () => void walk())
  await clock.advance(10)
  assert.deepEqual(times, [5, 5, 5, 6])
})

test('what never rests is an error, on either clock', async () => {
  for (const alone of [true, false]) {
    const clock = new VirtualClock(1, { alone })
    let isOver = false
    const spin = (): void => clock.turn(() => isOver || spin())
    spin()
    await assert.rejects(clock.settle(), /does not come to rest/)
    isOver = true
  }
})

test('a leap fires what fell due meanwhile once, late', async () => {
  const clock = new VirtualClock()
  const fired: number[] = []
  clock.timer(10, () => fired.push(clock.mono()))
  clock.timer(10, () => fired.push(0)).cancel()
  await clock.leap(86_400_000)
  assert.deepEqual(fired, [86_400_000])
})

test('a jump of the wall clock leaves monotonic time alone', () => {
  const clock = new VirtualClock()
  clock.jumpWall(-500)
  assert.deepEqual([clock.now(), clock.mono()], [START - 500, 0])
})

test('the same seed gives the same numbers and ids, and another seed others', () => {
  const drawn = (seed: number): unknown[] => {
    const clock = new VirtualClock(seed)
    return [clock.random(), clock.random(), clock.id(), clock.id()]
  }
  assert.deepEqual(drawn(7), drawn(7))
  assert.notDeepEqual(drawn(7), drawn(8))
})
