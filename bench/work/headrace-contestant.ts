// Headrace in the races of work: `race.work` through the library, as a program of its users would.
import { type Handler, headrace } from '../../src/index.ts'
import type { Contestant, Item, Place } from './contestant.ts'

interface Payload {
  at: number | null
}

export async function openHeadraceContestant(
  { concurrency, readsSignal }: { concurrency: number; readsSignal: boolean },
  { address, schema }: Place,
): Promise<Contestant> {
  const race = await headrace({ store: storeAt(address, schema) })
  const pool = race.pool('bench', { partitions: 32 })
  await pool.open()
  return {
    async add(items: readonly Item[]) {
      await pool.putAll(
        items.map(({ key, dueAt }) => ({
          key,
          payload: { at: dueAt },
          ...(dueAt !== null && { at: dueAt }),
        })),
      )
    },
    async start(started) {
      const handler: Handler<Payload> = ({ payload }) => started(payload.at)
      const reading: Handler<Payload> = ({ payload }, { signal }) => {
        if (!signal.aborted) started(payload.at)
      }
      race.work(pool, readsSignal ? reading : handler, { concurrency })
      await race.start()
    },
    async left() {
      const { waiting, due, 'backing-off': backingOff } = await pool.count()
      return waiting + due + backingOff
    },
    stop: () => race.stop(),
  }
}

function storeAt(address: string, schema: string): string {
  if (address.startsWith('sqlite:')) return `${address}/${schema}.db`
  const url = new URL(address)
  url.searchParams.set('schema', schema)
  return url.href
}
