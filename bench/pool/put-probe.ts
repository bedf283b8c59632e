// A process: has all contestants put by turns, on as many connections each, and answers how many rows a second each put in
// each round. Every turn begins with an empty table, or one that holds all keys; what disturbs the machine disturbs
// neighbours alike.
import pg from 'pg'
import { systemClock } from '../../src/clock.ts'
import { answerParent, tellParent } from '../child.ts'
import { type Contestant, type Item, KINDS, type Kind, type Team, type Track } from './contestant.ts'
import { openGraphileTeam } from './graphile-team.ts'
import { openHeadraceTeam } from './headrace-team.ts'

export interface PutProbeInput {
  url: string
  connections: number[]
  rounds: number
  /** In each turn. */
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

const ITEMS_PER_CALL = 1000

/** Batches of items whose keys stand in no order, each key once in all. */
function createBatches(calls: number, round: number): Item[][] {
  // A step that shares no factor with the number meets every place once.
  const [count, step] = [calls * ITEMS_PER_CALL, 7919]
  return Array.from({ length: calls }, (_, call) =>
    Array.from({ length: ITEMS_PER_CALL }, (__, index) => {
      const nth = ((call * ITEMS_PER_CALL + index) * step + round) % count
      return { key: `object-${String(nth).padStart(8, '0')}`, nth }
    }),
  )
}

/** Puts all batches, one call under way on each connection; answers rows a second. */
async function putAll({ put }: Contestant, batches: readonly Item[][], connections: number): Promise<number> {
  const began = systemClock.mono()
  const left = batches.values()
  const work = async (): Promise<void> => {
    for (const batch of left) await put(batch)
  }
  await Promise.all(Array.from({ length: connections }, work))
  return (batches.length * ITEMS_PER_CALL * 1000) / (systemClock.mono() - began)
}

async function takeTurn(
  contestant: Contestant,
  input: PutProbeInput,
  round: number,
  connections: number,
): Promise<number> {
  const batches = createBatches(input.calls, round)
  await contestant.empty()
  if (contestant.kind === 'keyed')
    await putAll(contestant, createBatches(input.calls, round + 1), connections)
  return putAll(contestant, batches, connections)
}

async function race(teams: readonly Team[], input: PutProbeInput, connections: number): Promise<Raced[]> {
  const raced: Raced[] = []
  for (const kind of KINDS) {
    const contestants = teams.flatMap((team) => team.contestants.filter((each) => each.kind === kind))
    const rates = contestants.map((): number[] => [])
    // The first round compiles and fills caches, and is not counted.
    for (let round = 0; round <= input.rounds; round += 1) {
      for (const index of contestants.keys()) {
        const turn = (index + round) % contestants.length
        const rate = await takeTurn(contestants[turn] as Contestant, input, round, connections)
        if (round > 0) rates[turn]?.push(rate)
      }
      tellParent(`${kind}, ${connections} connections, round ${round} of ${input.rounds}`)
    }
    for (const [index, { name, side }] of contestants.entries()) {
      raced.push({ name, side, kind, connections, rates: rates[index] ?? [] })
    }
  }
  return raced
}

await answerParent(async (input: PutProbeInput): Promise<Raced[]> => {
  const admin = new pg.Client({ connectionString: input.url })
  await admin.connect()
  const raced: Raced[] = []
  for (const connections of input.connections) {
    const run = async (statement: string): Promise<void> => void (await admin.query(statement))
    const track: Track = { url: input.url, connections, run }
    const teams = [await openHeadraceTeam(track), await openGraphileTeam(track)]
    raced.push(...(await race(teams, input, connections)))
    for (const team of teams) await team.close()
  }
  await admin.end()
  return raced
})
