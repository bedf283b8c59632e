// headrace topic list and read. Reading a whole topic merges its partitions by time; --follow stays.
import { type Command, InvalidArgumentError } from 'commander'
import type { Client, TopicEvent, TopicView } from '../client/client.ts'
import { HeadraceError, messageOf } from '../errors.ts'
import type { CommandParts } from './command.ts'
import type { CliContext } from './context.ts'
import { type ClientFlags, addClientFlags, clientOf, integer } from './flags.ts'
import { type Column, type Output, escapeControls, formatDuration, formatTable } from './output.ts'
import { readTopic, unknownPartition } from './topic-reader.ts'

const EXAMPLES = `Examples:
  $ headrace topic list
  $ headrace topic read ticks --limit 20
  $ headrace topic read ticks --follow --json | jq .value.item
  $ headrace topic read ticks --partition 3 --from 1200
`

export function addTopic(parts: CommandParts): void {
  const topic = parts.program
    .command('topic')
    .description('list topics and read their events')
    .addHelpText('before', EXAMPLES)
  addList(topic, parts)
  addRead(topic, parts)
}

function addList(topic: Command, { context, output }: CommandParts): void {
  const command = topic
    .command('list')
    .description('list topics')
    .addHelpText('before', 'Examples:\n  $ headrace topic list\n')
  addClientFlags(command, context).action(async (flags: ClientFlags, self: Command) => {
    const topics = await clientOf(flags, context).topics.list()
    const out = output(self)
    out.result(topics, () => formatTopics(topics.items, out))
  })
}

interface ReadFlags extends ClientFlags {
  partition?: number
  from?: number | 'oldest' | 'head'
  limit?: number
  follow?: boolean
}

function addRead(topic: Command, { context, output }: CommandParts): void {
  const command = topic
    .command('read <topic>')
    .description('read events of a topic, all partitions by time; with --json one a line')
    .addHelpText('before', EXAMPLES.replace('  $ headrace topic list\n', ''))
    .option('--partition <number>', 'only this partition', integer())
    .option(
      '--from <place>',
      'oldest, head or, of one partition, an offset (default oldest; head with --follow)',
      place,
    )
    .option(
      '--limit <number>',
      'end after so many events (default 100; none with --follow)',
      integer({ min: 1 }),
    )
    .option('--follow', 'go on with events as they are appended, until Ctrl-C')
  addClientFlags(command, context).action(async (name: string, flags: ReadFlags, self: Command) => {
    if (typeof flags.from === 'number' && flags.partition === undefined) throw offsetOfWhat()
    const read = { client: clientOf(flags, context), name, flags, output: output(self), context }
    await (flags.follow === true ? followEvents(read) : readEvents(read))
  })
}

interface Read {
  client: Client
  name: string
  flags: ReadFlags
  output: Output
  context: CliContext
}

async function readEvents({ client, name, flags, output }: Read): Promise<void> {
  const { limit = 100, partition, from = 'oldest' } = flags
  const detail = await client.topics.get(name)
  const events = readTopic(client, detail, { partition, from, limit })
  let printed = 0
  for await (const event of events) {
    output.line(event, () => formatEvent(event, output))
    printed += 1
  }
  if (printed === limit)
    output.talk(`the first ${output.count(limit)}; more: --limit, or --partition and --from`)
  else if (printed === 0) output.talk('no events')
}

async function followEvents({ client, name, flags, output, context }: Read): Promise<void> {
  const { limit = Number.POSITIVE_INFINITY, partition, from = 'head' } = flags
  const start = partition === undefined ? from : await offsetOf(client, name, { partition, from })
  const events = client.topics.follow(name, {
    partition,
    from: start,
    signal: context.signal,
    onLost: (error) => output.talk(`${escapeControls(messageOf(error))}; trying again`),
  })
  let printed = 0
  for await (const event of events) {
    output.line(event, () => formatEvent(event, output))
    printed += 1
    if (printed >= limit) return
  }
  context.signal.throwIfAborted()
}

/** A partition is followed from an offset. */
async function offsetOf(
  client: Client,
  name: string,
  { partition, from }: { partition: number; from: number | 'oldest' | 'head' },
): Promise<number> {
  if (typeof from === 'number') return from
  const topic = await client.topics.get(name)
  const found = topic.bounds.find((bound) => bound.partition === partition)
  if (found === undefined) throw unknownPartition(topic, partition)
  return found[from]
}

function offsetOfWhat(): HeadraceError {
  return new HeadraceError('invalid_options', 'an offset is of one partition, and none is named', {
    remedy: 'add --partition, or write --from oldest',
  })
}

function place(text: string): number | 'oldest' | 'head' {
  if (text === 'oldest' || text === 'head') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('write oldest, head or an offset')
}

function formatEvent({ time, partition, offset, key, value }: TopicEvent, output: Output): string {
  const where = `${partition}/${offset}`.padEnd(8)
  return `${output.dim(`${time}  ${where}`)}  ${escapeControls(`${key}  ${JSON.stringify(value)}`)}`
}

export function formatTopics(topics: readonly TopicView[], output: Output): string {
  if (topics.length === 0) return 'no topics'
  const columns: Column<TopicView>[] = [
    { title: 'topic', text: ({ name }) => name },
    { title: 'partitions', align: 'right', text: ({ partitions }) => String(partitions) },
    { title: 'events', align: 'right', text: ({ events }) => output.count(events) },
    { title: 'retention', align: 'right', text: ({ retentionMs }) => formatDuration(retentionMs) },
  ]
  return formatTable(columns, topics, output.dim)
}
