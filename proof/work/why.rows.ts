// Every reason of the closed list that `why` can tell yet, each in a situation that is brought about for real: on memory,
// and over a PostgreSQL server.
import type { Reason } from '../../src/pool/why.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { NOT_THERE, SITUATIONS, bring } from '../../test/unit/server/why/situations.ts'
import type { ProofContext, ProofRow } from '../row.ts'

/** Of the fourteen; the others come with flows and calendars. */
const EXPECTED = 12

interface Shown {
  reasons: number
  right: number
  wrong: string[]
}

async function show(addressOf: (nth: number) => string, { progress }: ProofContext): Promise<Shown> {
  const shown = new Set<Reason>()
  const wrong: string[] = []
  for (const [nth, situation] of SITUATIONS.entries()) {
    const { reason, title } = situation
    progress(`${reason}: ${title}`)
    const told = await bring(situation, addressOf(nth)).catch((error: unknown) => ({ reason: String(error) }))
    if (told['reason'] === reason) shown.add(reason)
    else wrong.push(`${reason}, ${title}: ${String(told['reason'])}`)
  }
  return { reasons: shown.size, right: SITUATIONS.length - wrong.length, wrong }
}

function row(store: string, run: (context: ProofContext) => Promise<Shown>): ProofRow {
  return {
    name: `${store}: reasons of \`why\` that a real situation shows, and situations told rightly`,
    bar: `${EXPECTED} of ${EXPECTED}, all`,
    async run(context) {
      const { reasons, right, wrong } = await run(context)
      return {
        value: `${reasons} of ${EXPECTED}, ${right} of ${SITUATIONS.length}`,
        holds: reasons === EXPECTED && wrong.length === 0,
        detail: [`not there yet: ${NOT_THERE.join(', ')}`, ...wrong].join('; '),
      }
    },
  }
}

export const rows: ProofRow[] = [
  row('memory', (context) => show(() => 'memory:', context)),
  {
    // Each situation costs a schema.
    quick: false,
    ...row('PostgreSQL', async (context) => {
      const server = await startPostgres(15, { fsync: false })
      if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
      try {
        return await show((nth) => server.url({ schema: `situation_${nth}` }), context)
      } finally {
        await server.remove()
      }
    }),
  },
]
