// headrace pool dead, redrive, remove: what was given up.
import { type Command, Option } from 'commander'
import type { DeadChoice, DeadFilter, DeadKindView, DeadView } from '../client/client.ts'
import { HeadraceError } from '../errors.ts'
import type { CommandParts } from './command.ts'
import { type ClientFlags, addClientFlags, clientOf, moment } from './flags.ts'
import { type Column, type Output, formatTable } from './output.ts'
import { afterFlag, examples, limitFlag, sayNext } from './paging.ts'
import { shortError } from './pool-text.ts'

const STATES = ['dead', 'retrying', 'recovered']

export function addDeadCommands(pool: Command, parts: CommandParts): void {
  addDead(pool, parts)
  addRedrive(pool, parts)
  addRemove(pool, parts)
}

function addFilterFlags(command: Command): Command {
  return command
    .option('--reason <reason>', 'with this reason')
    .option('--error <text>', 'with this text in the error')
    .option('--kind <kind>', 'of this kind, as --kinds of "pool dead" shows it')
    .option('--group <group>', 'of this group of puts')
    .addOption(new Option('--state <state>', 'what became of it since').choices(STATES))
    .option('--at <time>', 'of this time of the key, in a pool of mode each; RFC 3339', moment)
    .option('--from <time>', 'died at or after, RFC 3339', moment)
    .option('--before <time>', 'died before, RFC 3339', moment)
}

function filterOf({ reason, error, kind, group, state, at, from, before }: DeadFilter): DeadFilter {
  return { reason, error, kind, group, state, at, from, before }
}

interface DeadFlags extends ClientFlags, DeadFilter {
  kinds?: boolean
  limit?: number
  after?: string
}

function addDead(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('dead <pool> [key]')
    .description('list what was given up, the newest first; with --kinds by what it died of')
    .addHelpText(
      'before',
      examples('pool dead vms', 'pool dead vms --kinds', 'pool dead vms --error timeout'),
    )
    .option('--kinds', 'count those with the same reason and error but for numbers and ids')
  addFilterFlags(command).addOption(limitFlag('50; of kinds all')).addOption(afterFlag())
  addClientFlags(command, context).action(
    async (name: string, key: string | undefined, flags: DeadFlags, self: Command) => {
      const client = clientOf(flags, context).pools.of(name)
      const out = output(self)
      const { kinds = false, limit, after } = flags
      const filter = { ...filterOf(flags), key }
      if (kinds) {
        const page = await client.deadKinds({ ...filter, after })
        const items = page.items.slice(0, limit)
        out.result({ ...page, items }, () => formatKinds(items, out))
        const { length: found } = page.items
        if (found > items.length)
          out.talk(`the largest ${out.count(items.length)} of ${out.count(found)}; all: leave --limit out`)
        if (page.next !== null) out.talk(`of the newest 10,000; those before: --after ${page.next}`)
        return
      }
      const page = await client.dead({ ...filter, limit: limit ?? 50, after })
      out.result(page, () => formatDead(page.items, out))
      sayNext(page, out)
    },
  )
}

interface ChoiceFlags extends ClientFlags, DeadFilter {
  all?: boolean
}

function addRedrive(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('redrive <pool> [key]')
    .description('run again what was given up, now, with its payload and from the first attempt')
    .addHelpText(
      'before',
      examples(
        'pool redrive vms vm-17',
        'pool redrive vms --kind 3f2a9c01b77e',
        'pool redrive vms --group customer-7',
        'pool redrive vms --all',
      ),
    )
    .option('--all', 'everything that is dead in the pool')
  addClientFlags(addFilterFlags(command), context).action(
    async (name: string, key: string | undefined, flags: ChoiceFlags, self: Command) => {
      const answer = await clientOf(flags, context).pools.of(name).redrive(choiceOf(key, flags))
      const out = output(self)
      out.result(answer, () => `redriven  ${out.count(answer.redriven)}`)
    },
  )
}

function addRemove(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('remove <pool> [key]')
    .description('remove records of what was given up, and each dead entry with the last of its own')
    .addHelpText('before', examples('pool remove vms vm-17', 'pool remove vms --before 2027-01-01T00:00:00Z'))
    .option('--all', 'every record of the pool')
  addClientFlags(addFilterFlags(command), context).action(
    async (name: string, key: string | undefined, flags: ChoiceFlags, self: Command) => {
      const answer = await clientOf(flags, context).pools.of(name).remove(choiceOf(key, flags))
      const out = output(self)
      const { deaths, entries } = answer
      out.result(answer, () => `removed  ${out.count(deaths)} records, ${out.count(entries)} dead entries`)
    },
  )
}

/** A key, a filter, or all: one of them must be said. */
function choiceOf(key: string | undefined, flags: ChoiceFlags): DeadChoice {
  const filter = { key, ...filterOf(flags) }
  const isNamed = Object.values(filter).some((value) => value !== undefined)
  if (flags.all === true && !isNamed) return { all: true }
  if (isNamed && flags.all !== true) return filter
  const what = isNamed ? '--all stands beside a key or a filter' : 'nothing says which of the dead'
  throw new HeadraceError('invalid_options', what, {
    remedy: 'name a key, or --kind, --group, --error, …, or --all',
  })
}

function formatDead(runs: readonly DeadView[], output: Output): string {
  if (runs.length === 0) return 'none'
  const columns: Column<DeadView>[] = [
    { title: 'key', text: ({ key }) => key },
    ...(runs.some(({ at }) => at !== null) ? [{ title: 'at', text: ({ at }: DeadView) => at ?? '-' }] : []),
    { title: 'died at', text: ({ diedAt }) => diedAt },
    { title: 'tally', align: 'right', text: ({ tally }) => output.count(tally) },
    { title: 'state', text: ({ state }) => state },
    { title: 'kind', text: ({ kind }) => kind },
    { title: 'reason', text: ({ reason }) => shortError(reason) },
    { title: 'error', text: ({ error }) => shortError(error ?? '-') },
  ]
  return formatTable(columns, runs, output.dim)
}

function formatKinds(kinds: readonly DeadKindView[], output: Output): string {
  if (kinds.length === 0) return 'none'
  const columns: Column<DeadKindView>[] = [
    { title: 'kind', text: ({ kind }) => kind },
    { title: 'count', align: 'right', text: ({ count }) => output.count(count) },
    { title: 'first', text: ({ first }) => first },
    { title: 'last', text: ({ last }) => last },
    { title: 'reason', text: ({ reason }) => reason },
    { title: 'error', text: ({ error }) => error ?? '-' },
    { title: 'keys', text: ({ keys, count }) => keys.join(', ') + (count > keys.length ? ', …' : '') },
  ]
  return formatTable(columns, kinds, output.dim)
}
