// headrace tick add, get, list, cancel, move.
import { type Command, Option } from 'commander'
import type { ConflictRule, Page, TickAnswer, TickQuery, TickView } from '../client/client.ts'
import { toIso } from '../clock.ts'
import type { CommandParts } from './command.ts'
import {
  type ClientFlags,
  type MoveFlags,
  addClientFlags,
  addMoveFlags,
  changeOf,
  clientOf,
  duration,
  json,
  moment,
} from './flags.ts'
import { type Column, type Output, escapeControls, formatTable } from './output.ts'
import { afterFlag, examples, limitFlag, sayNext } from './paging.ts'

const EXAMPLES = `Examples:
  $ headrace tick add user1234 --at 2027-02-28T14:16:00Z
  $ headrace tick add user1234 --in 10m --payload '{"plan":"pro"}'
  $ headrace tick list --state waiting --limit 20
  $ headrace tick move user1234 --at 2027-02-28T14:16:00Z --to 2027-03-01T00:00:00Z
  $ headrace tick cancel user1234
`

const STATES = ['waiting', 'due', 'backing-off', 'dead']
const RULES = ['earliest', 'replace', 'keep', 'reject']
const PAGE_TICKS = 50

export function addTick(parts: CommandParts): void {
  const tick = parts.program
    .command('tick')
    .description('ask for ticks, look at them, move and cancel them')
    .addHelpText('before', EXAMPLES)
  addAdd(tick, parts)
  addGet(tick, parts)
  addList(tick, parts)
  addCancel(tick, parts)
  addMove(tick, parts)
}

interface AddFlags extends ClientFlags {
  at?: string
  in?: number
  payload?: unknown
  onConflict?: ConflictRule
}

function addAdd(tick: Command, { context, output }: CommandParts): void {
  const command = tick
    .command('add <item>')
    .description('ask for a tick; without a time it is due now')
    .addHelpText(
      'before',
      examples('tick add user1234 --at 2027-02-28T14:16:00Z', 'tick add user1234 --in 10m'),
    )
    .option('--at <time>', 'when it is due, RFC 3339', moment)
    .addOption(new Option('--in <duration>', 'due after this long').argParser(duration).conflicts('at'))
    .option('--payload <json>', 'anything JSON can hold; its event carries it', json)
    .addOption(new Option('--on-conflict <rule>', 'where an item has one tick').choices(RULES))
  addClientFlags(command, context).action(async (item: string, flags: AddFlags, self: Command) => {
    const added = await clientOf(flags, context).ticks.add({
      item,
      at: flags.at ?? toIso(context.clock.now() + (flags.in ?? 0)),
      ...('payload' in flags ? { payload: flags.payload } : {}),
      ...(flags.onConflict === undefined ? {} : { onConflict: flags.onConflict }),
    })
    output(self).result(added, () => formatAnswer(added))
  })
}

interface GetFlags extends ClientFlags {
  at?: string
  limit?: number
  after?: string
}

function addGet(tick: Command, { context, output }: CommandParts): void {
  const command = tick
    .command('get <item>')
    .description('show the tick of a time, or every tick of an item')
    .addHelpText('before', examples('tick get user1234', 'tick get user1234 --at 2027-02-28T14:16:00Z'))
    .option('--at <time>', 'the time that the tick was asked for, RFC 3339', moment)
    .addOption(limitFlag().conflicts('at'))
    .addOption(afterFlag().conflicts('at'))
  addClientFlags(command, context).action(async (item: string, flags: GetFlags, self: Command) => {
    const { ticks } = clientOf(flags, context)
    const out = output(self)
    const { at, limit = PAGE_TICKS, after } = flags
    if (at === undefined) printPage(await ticks.getAll(item, { limit, after }), out)
    else {
      const found = await ticks.get(item, at)
      out.result(found, () => formatTicks([found], out))
    }
  })
}

function addList(tick: Command, { context, output }: CommandParts): void {
  const command = tick
    .command('list')
    .description('list ticks in due order')
    .addHelpText(
      'before',
      examples('tick list --state due', 'tick list --from 2027-02-28T00:00:00Z --limit 20'),
    )
    .option('--item <item>', 'of this item')
    .addOption(new Option('--state <state>', 'in this state').choices(STATES))
    .option('--from <time>', 'due at or after, RFC 3339', moment)
    .option('--before <time>', 'due before, RFC 3339', moment)
    .addOption(limitFlag())
    .addOption(afterFlag())
  addClientFlags(command, context).action(async (flags: ClientFlags & TickQuery, self: Command) => {
    const { item, state, from, before, limit = PAGE_TICKS, after } = flags
    const query = { item, state, from, before, limit, after }
    printPage(await clientOf(flags, context).ticks.list(query), output(self))
  })
}

function addCancel(tick: Command, { context, output }: CommandParts): void {
  const command = tick
    .command('cancel <item>')
    .description('cancel the tick of a time, or every tick of an item')
    .addHelpText('before', examples('tick cancel user1234', 'tick cancel user1234 --at 2027-02-28T14:16:00Z'))
    .option('--at <time>', 'the time that the tick was asked for, RFC 3339', moment)
  addClientFlags(command, context).action(
    async (item: string, flags: ClientFlags & { at?: string }, self: Command) => {
      const answer = await clientOf(flags, context).ticks.cancel(item, flags.at)
      const out = output(self)
      out.result(
        answer,
        () => `cancelled  ${escapeControls(item)}  ${out.count(answer.cancelled + answer.due)}`,
      )
      if (answer.due > 0) out.talk(`${out.count(answer.due)} of them due already: may still fire`)
    },
  )
}

function addMove(tick: Command, { context, output }: CommandParts): void {
  const command = tick
    .command('move <item>')
    .description('move a tick to another time, unless it is due already or the item has a tick at that time')
    .addHelpText('before', examples('tick move user1234 --at 2027-02-28T14:16:00Z --to 2027-03-01T00:00:00Z'))
    .option('--at <time>', 'the time that the tick was asked for; not needed where an item has one', moment)
  addClientFlags(addMoveFlags(command), context).action(
    async (item: string, flags: MoveFlags, self: Command) => {
      const moved = await clientOf(flags, context).ticks.move(item, changeOf(flags, context))
      output(self).result(moved, () => formatAnswer(moved))
    },
  )
}

function printPage(page: Page<TickView>, output: Output): void {
  output.result(page, () => formatTicks(page.items, output))
  sayNext(page, output)
}

function formatAnswer({ result, item, at }: TickAnswer): string {
  return escapeControls(`${result}  ${item}  ${at}`)
}

function formatTicks(ticks: readonly TickView[], output: Output): string {
  if (ticks.length === 0) return 'no ticks'
  const columns: Column<TickView>[] = [
    { title: 'item', text: ({ item }) => item },
    { title: 'at', text: ({ at }) => at },
    { title: 'due at', text: ({ dueAt }) => dueAt },
    { title: 'state', text: ({ state }) => state },
    { title: 'tally', align: 'right', text: ({ tally }) => output.count(tally) },
    { title: 'partition', align: 'right', text: ({ partition }) => String(partition) },
    { title: 'payload', text: ({ payload }) => (payload === undefined ? '' : JSON.stringify(payload)) },
  ]
  return formatTable(columns, ticks, output.dim)
}
