// A process: has all contestants put by turns, a few calls each, so that what disturbs the machine disturbs all alike, and
// answers how many rows a second each put in each round. Every round begins with an empty table, or one that holds all
// keys.
import { Client } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { answerParent, tellParent } from '../child.ts'
import { type Contestant, type Item, KINDS, type Kind, type Track } from './contestant.ts'
import { openGraphileTeam } from './graphile-team.ts'
import { openHeadraceTeam } from './headrace-team.ts'

export interface PutProbeInput {
  url: string
  connections: number[]
  rounds: number
  /** Of each contestant in each round. */
  calls: number
}

export interface Raced {
  name: string
  side: Contestant['side']
  kind: Kind
  connections: number
  /** Of each round, rows a second. */
  rates: number[]
}

type Batch = readonly Item[]

const ITEMS_PER_CALL = 1000
/** On each connection, before the next contestant has its turn. */
const CALLS_PER_TURN = 4

/** Batches of items whose keys stand in no order, each key once in all. */
function createBatches(calls: number, round: number): Batch[] {
  // A step that shares no factor with the number meets every place once.
  const [count, step] = [calls * ITEMS_PER_CALL, 7919]
  return Array.from({ length: calls }, (_, call) =>
    Array.from({ length: ITEMS_PER_CALL }, (__, index) => {
      const nth = ((call * ITEMS_PER_CALL + index) * step + round) % count
      return { key: `object-${String(nth).padStart(8, '0')}`, nth }
    }),
  )
}

/** Puts batches, one call under way on each connection; answers how long it took. */
async function putAll({ put }: Contestant, batches: readonly Batch[], connections: number): Promise<number> {
  const began = systemClock.mono()
  const left = batches.values()
  const work = async (): Promise<void> => {
    for (const batch of left) await put(batch)
  }
  await Promise.all(Array.from({ length: connections }, work))
  return systemClock.mono() - began
}

/** The rows a second of each contestant. */
async function runRound(
  contestants: readonly Contestant[],
  { calls, round, connections }: { calls: number; round: number; connections: number },
): Promise<number[]> {
  for (const contestant of contestants) {
    await contestant.empty()
    if (contestant.kind === 'keyed') await putAll(contestant, createBatches(calls, round + 1), connections)
  }
  const tookMs = contestants.map(() => 0)
  const batches = createBatches(calls, round)
  const size = CALLS_PER_TURN * connections
  for (let from = 0; from < calls; from += size) {
    for (const index of contestants.keys()) {
      const turn = (index + round + from / size) % contestants.length
      const took = await putAll(
        contestants[turn] as Contestant,
        batches.slice(from, from + size),
        connections,
      )
      tookMs[turn] = (tookMs[turn] ?? 0) + took
    }
  }
  return tookMs.map((ms) => (calls * ITEMS_PER_CALL * 1000) / ms)
}

async function race(track: Track, kind: Kind, { rounds, calls }: PutProbeInput): Promise<Raced[]> {
  const { connections } = track
  const contestants = await Promise.all([...openHeadraceTeam(track, kind), ...openGraphileTeam(track, kind)])
  const raced = contestants.map(({ name, side }): Raced => ({ name, side, kind, connections, rates: [] }))
  // The first round compiles and fills caches, and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const rates = await runRound(contestants, { calls, round, connections })
    if (round > 0) for (const [index, each] of raced.entries()) each.rates.push(rates[index] as number)
    tellParent(`${kind}, ${connections} connections, round ${round} of ${rounds}`)
  }
  for (const contestant of contestants) await contestant.close()
  return raced
}

await answerParent(async (input: PutProbeInput): Promise<Raced[]> => {
  const admin = new Client({ connectionString: input.url })
  await admin.connect()
  const run = async (statement: string): Promise<void> => void (await admin.query(statement))
  const raced: Raced[] = []
  for (const connections of input.connections) {
    for (const kind of KINDS) raced.push(...(await race({ url: input.url, connections, run }, kind, input)))
  }
  await admin.end()
  return raced
})
