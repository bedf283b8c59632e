// How late events were, read from the topic after the load: every event counts, and reading disturbs nothing.
import { type Client, createClient } from '../../src/client/client.ts'
import { parseTime } from '../../src/clock.ts'

export interface Lateness {
  /** Of each event: its time − the `at` that was asked for. */
  sinceAt: number[]
  /** Of each event: its time − its dueAt, which is the `at`, or when it was accepted if that was later. */
  sinceDue: number[]
}

const PAGE = 1000

/** The lateness of every event whose `at` is in [from, before). Throws when one is early. */
export async function readLateness(
  url: string,
  { from, before }: { from: number; before: number },
): Promise<Lateness> {
  const client = createClient({ server: url })
  const lateness: Lateness = { sinceAt: [], sinceDue: [] }
  const { bounds } = await client.topics.get('ticks')
  for (const { partition, oldest, head } of bounds) {
    for await (const { at, time, lateMs } of events(client, { partition, oldest, head })) {
      if (time < at || lateMs < 0) throw new Error(`an event of ${at} has the time ${time}: early`)
      if (at < from || at >= before) continue
      lateness.sinceAt.push(time - at)
      lateness.sinceDue.push(lateMs)
    }
  }
  return lateness
}

async function* events(
  client: Client,
  { partition, oldest, head }: { partition: number; oldest: number; head: number },
): AsyncGenerator<{ at: number; time: number; lateMs: number }> {
  for (let from = oldest; from < head;) {
    const page = await client.topics.read<{ at: string }>('ticks', { partition, from, limit: PAGE })
    for (const { value, time, headers } of page.events) {
      yield {
        at: parseTime(value.at) ?? Number.NaN,
        time: parseTime(time) ?? Number.NaN,
        lateMs: Number(headers?.['lateMs']),
      }
    }
    if (page.events.length === 0) throw new Error(`partition ${partition} ends before its head`)
    from = page.next
  }
}
