// headrace migrate: brings a store's schema to the version of this package, and says what it did.
import type { Command } from 'commander'
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
    const options = readSchemaFlags(flags, { names: FLAGS, env: context.env })
    const store = await openStore(options.store, {
      clock: context.clock,
      telemetry: createTelemetry(context.clock.id()),
      faults: noFaults,
    })
    await store.close()
    output(self).result({ store: store.address }, () => `${store.address} is up to date`)
  })
}
