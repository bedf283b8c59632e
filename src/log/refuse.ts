// What a log refuses, in the same words in every store.
import { HeadraceError } from '../errors.ts'
import type { PartitionBounds, TopicSettings } from './store.ts'

/** Refuses a topic that is asked for with another number of partitions. [L1] */
export function refuseOtherTopic(stored: TopicSettings, asked: TopicSettings): void {
  if (stored.partitions === asked.partitions) return
  throw new HeadraceError(
    'topic_mismatch',
    `the topic ${stored.name} has ${stored.partitions} partitions, and was asked for with ${asked.partitions}`,
    { remedy: 'use the stored number, or another topic name' },
  )
}

/** Refuses one process that asks twice, with another retention: the second would be ignored. */
export function refuseOtherRetention(known: TopicSettings, asked: TopicSettings): void {
  if (asked.retentionMs === known.retentionMs) return
  const write = ({ retentionMs }: TopicSettings): string =>
    retentionMs === null ? 'no retention' : `a retention of ${retentionMs} ms`
  throw new HeadraceError(
    'topic_mismatch',
    `the topic ${known.name} was made with ${write(known)}, and asked for with ${write(asked)}`,
    { remedy: 'name it where the topic is first asked for' },
  )
}

export function topicUnknown(name: string): HeadraceError {
  return new HeadraceError('topic_unknown', `there is no topic ${JSON.stringify(name)}`, {
    remedy: 'list the topics with `headrace topic list`',
  })
}

/** Refuses a partition that the topic does not have. */
export function refuseOtherPartition(topic: TopicSettings, partition: number): void {
  if (Number.isInteger(partition) && partition >= 0 && partition < topic.partitions) return
  throw new HeadraceError('partition_unknown', `the topic ${topic.name} has no partition ${partition}`, {
    remedy: `choose one from 0 to ${topic.partitions - 1}`,
  })
}

/** Refuses to read below what retention has left; a reader must not skip what it has not seen. [L5] */
export function refuseGone(topic: string, from: number, bounds: PartitionBounds): void {
  if (from >= bounds.oldest) return
  throw new HeadraceError(
    'offset_gone',
    `events ${from} to ${bounds.oldest - 1} of ${topic}/${bounds.partition} fell off by retention`,
    { remedy: `read from ${bounds.oldest} on` },
  )
}
