// What every store of logs must do: the rules of docs/spec/log.md.
import assert from 'node:assert/strict'
import { type Case, type OpenSubject, registerCases } from './contract.ts'
import { DAY, asEvent, openTopic } from './log-driver.ts'
import type { Position } from '../log/store.ts'
import { START } from './virtual-clock.ts'

const idsOf = (events: { id: string }[]): string[] => events.map(({ id }) => id)
const offsetsOf = (events: { offset: number }[]): number[] => events.map(({ offset }) => offset)
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

const topicCases: Case[] = [
  {
    title: '[L1] a topic asked for with another number of partitions is refused',
    run: async ({ store }) => {
      await openTopic(store, { partitions: 2 })
      await assert.rejects(openTopic(store, { partitions: 3 }), { code: 'topic_mismatch' })
      assert.equal((await store.log.topic('events')).partitions, 2)
    },
  },
  {
    title: '[L1] a topic opened again keeps its events and takes the new retention',
    run: async ({ store }) => {
      await (await openTopic(store)).append(0, 'a')
      const topic = await openTopic(store, { retentionMs: DAY })
      assert.deepEqual(idsOf(await topic.read(0)), ['a'])
      assert.equal((await store.log.topic('events')).retentionMs, DAY)
    },
  },
  {
    title: '[L1] a topic opened without a retention keeps the one it has, and a new one gets seven days',
    run: async ({ store }) => {
      await openTopic(store, { retentionMs: 30 * DAY })
      await openTopic(store, { retentionMs: null })
      assert.equal((await store.log.topic('events')).retentionMs, 30 * DAY)
      await openTopic(store, { name: 'new', retentionMs: null })
      assert.equal((await store.log.topic('new')).retentionMs, 7 * DAY)
    },
  },
  {
    title: '[L1] a topic that was never opened is unknown to every call',
    run: async ({ store }) => {
      const unknown = { code: 'topic_unknown' }
      await assert.rejects(store.log.append('none', [asEvent('a', 0)]), unknown)
      await assert.rejects(store.log.read('none', { from: [], limit: 1, maxBytes: 1 }), unknown)
      await assert.rejects(store.log.topic('none'), unknown)
      await assert.rejects(store.log.trim('none', 1), unknown)
      assert.deepEqual(await store.log.topics(), [])
    },
  },
  {
    title: '[L1] a partition that the topic does not have is refused',
    run: async ({ store }) => {
      const topic = await openTopic(store, { partitions: 2 })
      for (const partition of [2, -1, 0.5]) {
        await assert.rejects(topic.read(partition), { code: 'partition_unknown' })
        await assert.rejects(topic.append(partition, 'a'), { code: 'partition_unknown' })
      }
    },
  },
  {
    title: '[L1] every topic is listed with its settings and bounds',
    run: async ({ store }) => {
      const left = await openTopic(store, { name: 'left', partitions: 2 })
      await openTopic(store, { name: 'right', partitions: 1, retentionMs: DAY })
      await left.append(1, 'a', 'b')
      const topics = (await store.log.topics()).toSorted((a, b) => a.name.localeCompare(b.name))
      const bounds = (partition: number, head: number): object => ({ partition, oldest: 0, head })
      assert.deepEqual(topics, [
        { name: 'left', partitions: 2, retentionMs: 7 * DAY, bounds: [bounds(0, 0), bounds(1, 2)] },
        { name: 'right', partitions: 1, retentionMs: DAY, bounds: [bounds(0, 0)] },
      ])
    },
  },
]

const appendCases: Case[] = [
  {
    title: '[L2] an append is answered with contiguous offsets per partition, from 0 on',
    run: async ({ store, clock }) => {
      const topic = await openTopic(store)
      await topic.append(0, 'a')
      await clock.leap(3)
      const appended = await topic.appendAll([asEvent('b', 1), asEvent('c', 0), asEvent('d', 1)])
      const time = START + 3
      assert.deepEqual(appended, [
        { partition: 1, offset: 0, time },
        { partition: 0, offset: 1, time },
        { partition: 1, offset: 1, time },
      ])
      assert.deepEqual(await topic.appendAll([]), [])
    },
  },
  {
    title: '[L2] an append with one event that is refused appends nothing',
    run: async ({ store }) => {
      const topic = await openTopic(store, { partitions: 2 })
      const events = [asEvent('a', 0), asEvent('b', 1), asEvent('c', 2)]
      await assert.rejects(topic.appendAll(events), { code: 'partition_unknown' })
      assert.deepEqual(await topic.readAll(), [])
      assert.deepEqual(offsetsOf(await topic.append(0, 'd')), [0])
    },
  },
  {
    title: '[L2] interleaved appends leave no gap and give no offset twice',
    run: async ({ store }) => {
      const topic = await openTopic(store, { partitions: 3 })
      const calls = upTo(60).map((n) => {
        return topic.appendAll([
          asEvent(`${n}a`, n % 3),
          asEvent(`${n}b`, (n + 1) % 3),
          asEvent(`${n}c`, n % 3),
        ])
      })
      await Promise.all(calls)
      for (const partition of [0, 1, 2]) assert.deepEqual(offsetsOf(await topic.read(partition)), upTo(60))
      assert.equal(new Set(idsOf(await topic.readAll())).size, 180)
    },
  },
  {
    title: '[L3] events stand in the order in which they were given',
    run: async ({ store }) => {
      const topic = await openTopic(store)
      await Promise.all([topic.append(0, 'a', 'b', 'c'), topic.append(0, 'd', 'e')])
      await topic.append(0, 'f')
      assert.deepEqual(idsOf(await topic.read(0)), ['a', 'b', 'c', 'd', 'e', 'f'])
    },
  },
]

const readCases: Case[] = [
  {
    title: '[L4] a read answers whole events from its offset on, at most its limit',
    run: async ({ store }) => {
      const topic = await openTopic(store)
      const headers = '{"lateMs":1}'
      const event = { id: 'é', key: '__proto__', partition: 1, value: '{"a": [null,1e400]}', headers }
      await topic.append(1, 'a', 'b', 'c')
      await topic.appendAll([event])
      assert.deepEqual(idsOf(await topic.read(1, 1, 2)), ['b', 'c'])
      assert.deepEqual(await topic.read(1, 3), [{ ...event, offset: 3, time: START }])
      assert.deepEqual(await topic.read(0), [])
    },
  },
  {
    title: '[L4] a read at the head, or beyond, answers nothing',
    run: async ({ store }) => {
      const topic = await openTopic(store)
      await topic.append(0, 'a')
      assert.deepEqual(await topic.read(0, 1), [])
      assert.deepEqual(await topic.read(0, 1000), [])
    },
  },
  {
    title: '[L4] reads in pages meet five thousand events once each',
    run: async ({ store }) => {
      const topic = await openTopic(store, { partitions: 1 })
      const ids = upTo(5000).map((n) => `e${n}`)
      await topic.append(0, ...ids)
      const read: string[] = []
      for (let from = 0; from < 5000; from += 700) read.push(...idsOf(await topic.read(0, from, 700)))
      assert.deepEqual(read, ids)
    },
  },
  {
    title: '[L4] a read ends before the event that would make it too large, and answers at least one',
    run: async ({ store }) => {
      const topic = await openTopic(store, { partitions: 1 })
      const large = { ...asEvent('large', 0), value: JSON.stringify('é'.repeat(20_000)) }
      await topic.appendAll([asEvent('a', 0), asEvent('b', 0), large, asEvent('c', 0)])
      const page = async (offset: number, maxBytes: number): Promise<unknown> => {
        const { events, more } = await topic.readPage([{ partition: 0, offset }], { maxBytes })
        return [idsOf(events), more]
      }
      assert.deepEqual(await page(0, 30_000), [['a', 'b'], true])
      assert.deepEqual(await page(2, 30_000), [['large'], true])
      assert.deepEqual(await page(3, 1), [['c'], false])
      assert.deepEqual(await page(0, 50_000), [['a', 'b', 'large', 'c'], false])
      assert.deepEqual(await page(4, 1), [[], false])
    },
  },
  {
    title: '[L4] a read of several partitions takes them in the order given, within one limit',
    run: async ({ store }) => {
      const topic = await openTopic(store, { partitions: 3 })
      for (const partition of [0, 1, 2]) await topic.append(partition, `${partition}a`, `${partition}b`)
      const at = (partition: number, offset: number): Position => ({ partition, offset })
      const from = [at(2, 1), at(0, 0), at(1, 2)]
      const all = await topic.readPage(from, { limit: 3 })
      assert.deepEqual([idsOf(all.events), all.more], [['2b', '0a', '0b'], false])
      const some = await topic.readPage(from, { limit: 2 })
      assert.deepEqual([idsOf(some.events), some.more], [['2b', '0a'], true])
      await assert.rejects(topic.readPage([at(0, 0), at(3, 0)], {}), { code: 'partition_unknown' })
    },
  },
  {
    title: '[L4] an append tells the watchers of its topic',
    run: async ({ store }) => {
      const topic = await openTopic(store)
      const heard: string[] = []
      store.watch((hint) => void (hint.kind === 'appended' && heard.push(hint.topic)))
      await topic.append(0, 'a')
      assert.ok(heard.includes('events'))
    },
  },
]

const retentionCases: Case[] = [
  {
    title: '[L5] events older than the retention are removed, the oldest first, as many as asked for',
    run: async ({ store, clock }) => {
      const topic = await openTopic(store, { retentionMs: DAY })
      await topic.append(0, 'a', 'b', 'c')
      await clock.leap(1000)
      await topic.append(0, 'd')
      await clock.leap(DAY - 1000)
      assert.equal(await topic.trim(), 0)
      await clock.leap(1)
      assert.equal(await topic.trim(2), 2)
      assert.deepEqual(await topic.bounds(), [
        { partition: 0, oldest: 2, head: 4 },
        { partition: 1, oldest: 0, head: 0 },
      ])
      assert.equal(await topic.trim(), 1)
      assert.deepEqual(idsOf(await topic.read(0, 3)), ['d'])
    },
  },
  {
    title: '[L5] a read below the oldest event is refused, never skipped over',
    run: async ({ store, clock }) => {
      const topic = await openTopic(store, { retentionMs: DAY })
      await topic.append(0, 'a', 'b')
      await clock.leap(DAY + 1)
      await topic.append(0, 'c')
      assert.equal(await topic.trim(), 2)
      await assert.rejects(topic.read(0, 0), { code: 'offset_gone' })
      await assert.rejects(topic.read(0, 1), { code: 'offset_gone' })
      assert.deepEqual(idsOf(await topic.read(0, 2)), ['c'])
    },
  },
  {
    title: '[L5] offsets go on where they were after everything fell off',
    run: async ({ store, clock }) => {
      const topic = await openTopic(store, { retentionMs: DAY })
      await topic.append(0, 'a', 'b')
      await clock.leap(DAY + 1)
      assert.equal(await topic.trim(), 2)
      assert.deepEqual(await topic.read(0, 2), [])
      assert.deepEqual(offsetsOf(await topic.append(0, 'c')), [2])
      await assert.rejects(topic.read(0, 1), { code: 'offset_gone' })
    },
  },
  {
    title:
      '[L6] the time of an event is the clock of the store, and offsets give the order if it is set back',
    run: async ({ store, clock }) => {
      const topic = await openTopic(store)
      await topic.append(0, 'a')
      clock.jumpWall(-500)
      await topic.append(0, 'b')
      const events = await topic.read(0)
      assert.deepEqual(
        events.map(({ id, time }) => [id, time]),
        [
          ['a', START],
          ['b', START - 500],
        ],
      )
    },
  },
]

export function logContract(name: string, open: OpenSubject): void {
  registerCases(`${name}: topics`, open, topicCases)
  registerCases(`${name}: append`, open, appendCases)
  registerCases(`${name}: read`, open, readCases)
  registerCases(`${name}: retention`, open, retentionCases)
}
