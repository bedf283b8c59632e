// A pause of a pool of ticks, on memory and virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Controlled } from '../../../src/pool/store.ts'
import type { Store } from '../../../src/store.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { type Changes, type Loop, startLoop } from './open-ticks.ts'

const UNHEARD: Changes = { watch: () => () => undefined }

/** Puts ticks that are due at these times after the start. */
async function putAt({ ticks }: Loop, ...times: number[]): Promise<void> {
  await ticks.pool.putAll(times.map((time) => ({ key: `k${time}`, at: START + time })))
}

async function pulse({ ticks, store, clock }: Loop): Promise<void> {
  ticks.notice(await store.pulse({ beat: null, pools: ticks.asked }), clock.now())
}

/** Counts the reads of what steers a pool, which was marked before; each waits for `gate`. */
function gated(memory: Store, gate: () => Promise<unknown>): { reads: () => number; pool: Store['pool'] } {
  let reads = 0
  const { control } = memory.pool
  const read = async (pool: string): Promise<Controlled> => {
    reads += 1
    const found = await control.read(pool)
    await gate()
    return { ...found, control: { ...found.control, isTicks: true } }
  }
  const write: typeof control.write = (...args) => control.write(...args)
  return { reads: () => reads, pool: { ...memory.pool, control: { read, write } } }
}

test('[T6] no tick moves while its pool is paused, puts are taken, and a resume lets them move at once', async () => {
  const loop = await startLoop()
  const { clock, ticks, times, movedAt } = loop
  await putAt(loop, 100, 200)
  await clock.advance(150)
  await ticks.pool.pause({ by: 'ann' })
  await putAt(loop, 160, 5000)
  await clock.advance(10)
  const asked = movedAt.length
  await clock.advance(60_000)
  assert.deepEqual([await times(), movedAt.length], [[100], asked])
  await ticks.pool.resume()
  await clock.advance(10)
  assert.deepEqual((await times()).length, 4)
  await ticks.service.stop()
})

test('[T6] a pool that was paused before the start moves nothing, however it is put to', async () => {
  const loop = await startLoop({ before: (pool) => pool.pause() })
  const { clock, ticks, times } = loop
  await putAt(loop, 0, 10)
  await clock.advance(1000)
  assert.deepEqual(await times(), [])
  await ticks.service.stop()
})

test('[T6] a pause with an end is over then, by the store’s clock, without a word from anybody', async () => {
  const loop = await startLoop()
  const { clock, ticks, times } = loop
  await putAt(loop, 100)
  await ticks.pool.pause({ until: START + 3_600_000 })
  await clock.advance(3_599_999)
  assert.deepEqual(await times(), [])
  await clock.advance(10)
  assert.equal((await times()).length, 1)
  await ticks.service.stop()
})

test('[T6] [L12] a pause and a resume whose hints were lost hold from the next pulse on', async () => {
  const loop = await startLoop(UNHEARD)
  const { clock, ticks, times } = loop
  await clock.advance(10)
  await ticks.pool.pause()
  await pulse(loop)
  await putAt(loop, 20)
  await pulse(loop)
  await clock.advance(1000)
  assert.deepEqual(await times(), [])
  await ticks.pool.resume()
  await pulse(loop)
  await clock.advance(10)
  assert.equal((await times()).length, 1)
  await ticks.service.stop()
})

test('[T6] a pause that is written while another is read is read too, before anything moves', async () => {
  const gate = Promise.withResolvers<void>()
  let reads = (): number => 0
  const loop = await startLoop({
    store: (memory) => {
      const counted = gated(memory, () => gate.promise)
      reads = counted.reads
      return { pool: counted.pool }
    },
  })
  const { clock, ticks, store, memory, times } = loop
  await putAt(loop, 0)
  await clock.advance(10)
  assert.equal(reads(), 1)
  const { version, control } = await memory.pool.control.read('ticks')
  const paused = { by: null, reason: null, since: START, until: null }
  await store.pool.control.write('ticks', version, { ...control, paused })
  gate.resolve()
  await clock.advance(1000)
  assert.deepEqual([await times(), reads()], [[], 2])
  await ticks.service.stop()
})

test('[I6] what is known of paused ticks is told to the meter: the pause, and what a pulse told is due', async () => {
  const loop = await startLoop()
  const { clock, ticks, meter } = loop
  const look = (): unknown => {
    const [{ sight } = { sight: null }] = meter.ticks()
    return [sight?.isSteered, sight?.paused?.by ?? null, sight?.heardDueAt ?? null]
  }
  assert.deepEqual(look(), [false, null, null])
  await clock.advance(10)
  assert.deepEqual(look(), [true, null, null])
  await ticks.pool.pause({ by: 'ann', until: START + 5000 })
  await putAt(loop, 100)
  await clock.advance(200)
  await pulse(loop)
  assert.deepEqual(look(), [true, 'ann', START + 100])
  await clock.advance(5000)
  await pulse(loop)
  assert.deepEqual(look(), [true, null, null])
  await ticks.service.stop()
})

test('[T6] [I4] a mark that another write comes before is told, made after it, and changes nothing of that', async () => {
  const others = { by: 'ann', reason: null, since: START, until: null }
  let writes = 0
  const loop = await startLoop({
    store: ({ pool }) => {
      const { control } = pool
      const write: typeof control.write = async (name, version, wanted) => {
        writes += 1
        const before = await control.read(name)
        if (writes === 1) await control.write(name, version, { ...before.control, paused: others })
        return control.write(name, version, wanted)
      }
      return { pool: { ...pool, control: { read: (name) => control.read(name), write } } }
    },
  })
  const { clock, ticks, memory, times, telemetry } = loop
  const lost: string[] = []
  telemetry.on('control.lost', ({ by }) => lost.push(by))
  await putAt(loop, 0)
  await clock.advance(1000)
  assert.deepEqual(lost, ['ticks'])
  const { control } = await memory.pool.control.read('ticks')
  assert.deepEqual([control.paused, control.isTicks, writes, await times()], [others, true, 2, []])
  await ticks.service.stop()
})

test('[T6] a mark that fails keeps no tick from moving', async () => {
  const loop = await startLoop({
    store: ({ pool }) => {
      const { control } = pool
      const write = (): Promise<null> => Promise.reject(new Error('down'))
      return { pool: { ...pool, control: { read: (name) => control.read(name), write } } }
    },
  })
  const { clock, ticks, times } = loop
  await putAt(loop, 100)
  await clock.advance(200)
  assert.deepEqual(await times(), [100])
  await ticks.service.stop()
})

test('[T6] a pool that is not steered is read once, however many ticks move', async () => {
  let reads = (): number => 0
  const loop = await startLoop({
    store: (memory) => {
      const counted = gated(memory, () => Promise.resolve())
      reads = counted.reads
      return { pool: counted.pool }
    },
  })
  const { clock, ticks, times } = loop
  await putAt(loop, 100, 200, 300)
  for (let nth = 0; nth < 4; nth += 1) {
    await clock.advance(100)
    await pulse(loop)
  }
  assert.deepEqual([await times(), reads()], [[100, 200, 300], 1])
  await ticks.service.stop()
})
