// Headrace in the race: putAll through the library, as a program of its users would.
import { headrace, type Pool, type PutOptions, type PutOutcome } from '../../src/index.ts'
import type { Contestant, Item, Kind, Team, Track } from './contestant.ts'

/** The store keeps two more connections for pulses, roster and fences; nothing here uses them. */
const VITAL = 2
const HOUR_MS = 3_600_000

interface Setting {
  name: string
  kind: Kind
  /** What a key that is there is answered with. */
  result: PutOutcome['result']
  options(): PutOptions
}

export async function openHeadraceTeam({ url, connections, run }: Track): Promise<Team> {
  const address = new URL(url)
  address.searchParams.set('max', String(connections + VITAL))
  const race = await headrace({ store: address.href, join: 'no' })
  const pool = race.pool('bench', { partitions: 32 })
  await pool.open()
  const empty = (): Promise<void> => run('truncate headrace.entry, headrace.request, headrace.answer')
  return {
    contestants: settings().map((setting) => contestantOf(pool, setting, empty)),
    close: () => race.stop(),
  }
}

function settings(): Setting[] {
  const due = Date.now() + HOUR_MS
  let later = due
  return [
    { name: 'putAll, fresh keys: created', kind: 'unkeyed', result: 'created', options: () => ({ at: due }) },
    {
      name: 'putAll, rule earliest: merged, tally + 1, latest payload',
      kind: 'keyed',
      result: 'merged',
      options: () => ({ at: due }),
    },
    {
      name: 'putAll, rule replace: new time, payload and turn',
      kind: 'keyed',
      result: 'replaced',
      options: () => ({ at: (later += 1), onConflict: 'replace' }),
    },
  ]
}

function contestantOf(
  pool: Pool,
  { name, kind, result, options }: Setting,
  empty: Contestant['empty'],
): Contestant {
  return {
    name: `Headrace ${name}`,
    side: 'ours',
    kind,
    empty,
    async put(items: readonly Item[]) {
      const given = options()
      const outcomes = await pool.putAll(items.map(({ key, nth }) => ({ key, payload: { nth }, ...given })))
      const wrong = outcomes.find((outcome) => outcome.result !== result && outcome.result !== 'created')
      if (wrong !== undefined) throw new Error(`${name}: a put was answered ${wrong.result}`)
    },
  }
}
