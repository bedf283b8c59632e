// Headrace in the race: putAll through the library, as a program of its users would.
import { headrace, type PutOptions, type PutOutcome } from '../../src/index.ts'
import type { Contestant, Item, Kind, Track } from './contestant.ts'

/** The store keeps two more connections for pulses, roster and fences; nothing here uses them. */
const VITAL = 2
const HOUR_MS = 3_600_000

interface Setting {
  name: string
  kind: Kind
  schema: string
  /** What a key that is there is answered with. */
  result: PutOutcome['result']
  options: (nth: number) => PutOptions
}

const due = Date.now() + HOUR_MS

const SETTINGS: Setting[] = [
  {
    name: 'putAll, fresh keys due now: created',
    kind: 'unkeyed',
    schema: 'ours_now',
    result: 'created',
    options: () => ({}),
  },
  {
    name: 'putAll, fresh keys due in an hour: created',
    kind: 'unkeyed',
    schema: 'ours_later',
    result: 'created',
    options: () => ({ at: due }),
  },
  {
    name: 'putAll, rule earliest: merged, tally + 1, new payload',
    kind: 'keyed',
    schema: 'ours_earliest',
    result: 'merged',
    options: () => ({ at: due }),
  },
  {
    name: 'putAll, rule replace: replaced, new time, payload and turn',
    kind: 'keyed',
    schema: 'ours_replace',
    result: 'replaced',
    options: (nth) => ({ at: due + nth, onConflict: 'replace' }),
  },
]

export function openHeadraceTeam(track: Track, kind: Kind): Promise<Contestant>[] {
  return SETTINGS.filter((setting) => setting.kind === kind).map((setting) => open(track, setting))
}

async function open({ url, connections, run }: Track, setting: Setting): Promise<Contestant> {
  const { name, kind, schema, result, options } = setting
  const address = new URL(url)
  address.searchParams.set('max', String(connections + VITAL))
  address.searchParams.set('schema', schema)
  const race = await headrace({ store: address.href, join: 'no' })
  const pool = race.pool('bench', { partitions: 32 })
  await pool.open()
  let calls = 0
  return {
    name: `Headrace ${name}`,
    side: 'ours',
    kind,
    empty: () => run(`truncate ${schema}.entry, ${schema}.request, ${schema}.answer`),
    async put(items: readonly Item[]) {
      calls += 1
      const given = options(calls)
      const outcomes = await pool.putAll(items.map(({ key, nth }) => ({ key, payload: { nth }, ...given })))
      const wrong = outcomes.find((outcome) => outcome.result !== result && outcome.result !== 'created')
      if (wrong !== undefined) throw new Error(`${name}: a put was answered ${wrong.result}`)
    },
    close: () => race.stop(),
  }
}
