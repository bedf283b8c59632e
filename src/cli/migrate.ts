// headrace migrate: brings a store's schema to the version of this package, and says what it did.
import type { Command } from 'commander'
import type { Clock } from '../clock.ts'
import { noFaults } from '../fault.ts'
import type { OptionName } from '../options.ts'
import { openStore } from '../stores/open.ts'
import { createTelemetry } from '../telemetry.ts'
import type { CommandParts } from './command.ts'
import { addSchemaFlags, readSchemaFlags } from './flags.ts'

const FLAGS: OptionName[] = ['store']

const EXAMPLES = `Examples:
  $ headrace migrate
  $ headrace migrate --store sqlite:./other.db
`

export function addMigrate({ program, context, output }: CommandParts): void {
  const command = program
    .command('migrate')
    .description("bring a store's schema up to date; serve does the same when it starts")
    .addHelpText('before', EXAMPLES)
  addSchemaFlags(command, FLAGS).action(async (flags: Record<string, string>, self: Command) => {
    const { store } = readSchemaFlags(flags, { names: FLAGS, env: context.env })
    const done = await migrate(store, context.clock)
    output(self).result(done, () => formatMigration(done))
  })
}

interface Migration {
  store: string
  /** Schema versions; null where a store has none. */
  from: number | null
  to: number | null
}

/** Opening a store brings it up to date; how far it went is told by telemetry. */
async function migrate(address: string, clock: Clock): Promise<Migration> {
  const telemetry = createTelemetry(clock.id())
  let versions: Pick<Migration, 'from' | 'to'> = { from: null, to: null }
  const stop = telemetry.on('store.migrated', ({ from, to }) => (versions = { from, to }))
  const store = await openStore(address, { clock, telemetry, faults: noFaults }).finally(stop)
  await store.close()
  return { store: store.address, ...versions }
}

function formatMigration({ store, from, to }: Migration): string {
  if (to === null) return `${store} has no schema`
  return from === to ? `${store} is at version ${to} already` : `${store} went from version ${from} to ${to}`
}
