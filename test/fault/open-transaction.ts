// A transaction of a user's own that put and appended stays open while three members are under load, and commits at last.
// What others had to wait is compared to the times before it and after it.
import { Client } from 'pg'
import { type Headrace, headrace } from '../../src/index.ts'
import { Crew, type CrewVerdict, untilTime } from './crew.ts'
import { until } from './until.ts'

export interface OpenPlan {
  openMs: number
  /** How long it is looked at without the transaction, before it and again after it. */
  besideMs: number
  progress?: (text: string) => void
}

/** 99th percentiles in ms. */
export interface Compared {
  with: number
  /** Before and after it together, and each by itself. */
  without: number
  before: number
  after: number
}

export interface OpenTransaction extends CrewVerdict {
  /** From a post to its answer, and from a tick's due time to its event. */
  answers: Compared
  lateness: Compared
  /** What others saw of its work before the commit, and events that are older than the commit: must be 0. */
  seenBefore: number
  /** Its events at the end: one of the put and one of the append. */
  ownEvents: number
  /** From the commit to the later of them. */
  ranAfterMs: number
}

/** A stretch of time, by performance.now() and by the clock that the store has, too. */
interface Window {
  from: Moment
  to: Moment
}

interface Moment {
  mono: number
  wall: number
}

const TICK = 'put-in-a-transaction'
const ORDER = 'appended-in-a-transaction'
/** Servers that have just begun are slow, which would flatter the comparison. */
const WARM_UP_MS = 3000
const RUN_WITHIN_MS = 10_000

export async function openTransaction(plan: OpenPlan): Promise<OpenTransaction> {
  const { openMs, besideMs, progress = () => undefined } = plan
  await using crew = await Crew.of(3)
  await crew.store.run('create table placed_order (id integer primary key)')
  await using race = await headrace({ store: crew.store.url() })
  await untilTime(performance.now() + WARM_UP_MS)
  progress('without a transaction')
  const before = await pass(besideMs)
  progress('with an open transaction')
  const { window, seen, committedAt } = await holdOpen(crew, race, openMs)
  progress('without a transaction again')
  const after = await pass(besideMs)
  const verdict = await crew.judge()
  const times = await eventTimes(crew)
  return {
    ...verdict,
    seenBefore: seen + times.filter((time) => time < committedAt).length,
    ownEvents: times.length,
    ranAfterMs: Math.max(...times) - committedAt,
    answers: await compare((windows) => answersIn(crew, windows), { before, window, after }),
    lateness: await compare((windows) => latenessIn(crew, windows), { before, window, after }),
  }
}

async function compare(
  p99: (windows: readonly Window[]) => number | Promise<number>,
  { before, window, after }: Record<'before' | 'window' | 'after', Window>,
): Promise<Compared> {
  return {
    with: await p99([window]),
    without: await p99([before, after]),
    before: await p99([before]),
    after: await p99([after]),
  }
}

async function pass(ms: number): Promise<Window> {
  const from = moment()
  await untilTime(from.mono + ms)
  return { from, to: moment() }
}

function moment(): Moment {
  return { mono: performance.now(), wall: Date.now() }
}

interface Held {
  window: Window
  seen: number
  committedAt: number
}

/** The transaction keeps its first snapshot, and writes again before its end. */
async function holdOpen(crew: Crew, race: Headrace, openMs: number): Promise<Held> {
  const client = new Client({ connectionString: crew.store.url() })
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read')
    await client.query('insert into placed_order values (1)')
    const at = Date.now()
    await race.ticks('ticks').pool.put(TICK, { at, tx: client })
    await race.topic('orders', { partitions: 4 }).append([{ key: ORDER, value: { placed: true } }], {
      tx: client,
    })
    const window = await pass(openMs)
    await client.query('insert into placed_order values (2)')
    const seen = await sightings(crew)
    const committedAt = Date.now()
    await client.query('commit')
    // From here on the checker expects it, like every tick that was posted.
    const answer = { answeredAt: null, status: null, code: null }
    crew.witness.history.push({ item: TICK, at, outcome: 'ok', sentAt: performance.now(), ...answer })
    await until('its work runs', async () => (await eventTimes(crew)).length >= 2, RUN_WITHIN_MS)
    return { window, seen, committedAt }
  } finally {
    await client.end()
  }
}

/** Rows of its work that another session sees. */
async function sightings({ store }: Crew): Promise<number> {
  const [row] = await store.run(
    `select (select count(*) from headrace.event where key = any($1))
       + (select count(*) from headrace.entry where key = any($1))
       + (select count(*) from headrace.arrival where key = any($1))
       + (select count(*) from headrace.event_arrival where key = any($1)) as count`,
    [[TICK, ORDER]],
  )
  return Number(row?.['count'])
}

async function eventTimes({ store }: Crew): Promise<number[]> {
  const rows = await store.run('select time::float8 as time from headrace.event where key = any($1)', [
    [TICK, ORDER],
  ])
  return rows.map(({ time }) => Number(time))
}

/** Of the posts that were sent in these windows; one without an answer waited for ever. */
function answersIn({ witness }: Crew, windows: readonly Window[]): number {
  const waits = witness.history
    .filter(
      ({ sentAt, item }) =>
        item !== TICK && windows.some(({ from, to }) => sentAt >= from.mono && sentAt < to.mono),
    )
    .map(({ sentAt, answeredAt }) => (answeredAt ?? Infinity) - sentAt)
    .toSorted((a, b) => a - b)
  return waits[Math.ceil(waits.length * 0.99) - 1] ?? Infinity
}

/** Of the ticks that were due in these windows, whenever they moved. */
async function latenessIn({ store }: Crew, windows: readonly Window[]): Promise<number> {
  const [row] = await store.run(
    `select percentile_disc(0.99) within group (order by e.late) as late
     from (
         select e.time, (e.headers::json ->> 'lateMs')::integer as late
         from headrace.event e join headrace.topic t on t.id = e.topic where t.name = 'ticks'
       ) as e
       join unnest($1::float8[], $2::float8[]) as w (begun, ended)
         on e.time - e.late >= w.begun and e.time - e.late < w.ended`,
    [windows.map(({ from }) => from.wall), windows.map(({ to }) => to.wall)],
  )
  return Number(row?.['late'] ?? Infinity)
}
