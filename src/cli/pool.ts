// headrace pool list, make, get, put, add, move, cancel. What was given up is in dead.ts, pause and limits in control.ts.
import { type Command, Option } from 'commander'
import type { EntriesQuery, EntryView, NewEntry, Page, PoolClient, PutAnswer } from '../client/client.ts'
import { HeadraceError, messageOf } from '../errors.ts'
import type { CommandParts } from './command.ts'
import { addDeadCommands } from './dead.ts'
import {
  type ClientFlags,
  type MoveFlags,
  addClientFlags,
  addMoveFlags,
  changeOf,
  clientOf,
  duration,
  integer,
  json,
  moment,
} from './flags.ts'
import { type Output, escapeControls } from './output.ts'
import { afterFlag, examples, limitFlag, sayNext } from './paging.ts'
import { formatChange, formatEntries, formatEntry, formatPools, sayListed } from './pool-text.ts'
import { addControlCommands } from './control.ts'

const EXAMPLES = `Examples:
  $ headrace pool list
  $ headrace pool list vms --state backing-off
  $ headrace pool put vms vm-17 --in 10m --payload '{"deep":true}'
  $ headrace pool add mails '{"to":"ann"}'
  $ headrace pool move vms vm-17 --in 1h
  $ headrace pool dead vms --kinds
  $ headrace pool redrive vms --kind 3f2a9c01b77e
  $ headrace pool pause vms --by ann --reason 'provider is down'
  $ headrace pool limits vms --rate 50/1s
`

const STATES = ['waiting', 'due', 'backing-off', 'dead']
const LANES = ['fanout', 'normal', 'bulk']
const RULES = ['earliest', 'replace', 'keep']
const TIME_OF = 'the time that names the entry, in a pool of mode each; RFC 3339'

export function addPool(parts: CommandParts): void {
  const pool = parts.program
    .command('pool')
    .description(
      'look at pools and their entries, put, move and cancel keys, run again what was given up, pause pools and limit them',
    )
    .addHelpText('before', EXAMPLES)
  addList(pool, parts)
  addMake(pool, parts)
  addGet(pool, parts)
  addPut(pool, parts)
  addAdd(pool, parts)
  addMove(pool, parts)
  addCancel(pool, parts)
  addDeadCommands(pool, parts)
  addControlCommands(pool, parts)
}

function addList(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('list [pool]')
    .description('list the pools, or the entries of a pool in due order')
    .addHelpText('before', examples('pool list', 'pool list vms --state due', 'pool list vms --limit 20'))
    .option('--key <key>', 'of this key')
    .option('--prefix <text>', 'keys that begin with this')
    .option('--group <group>', 'of this group')
    .addOption(new Option('--state <state>', 'in this state').choices(STATES))
    .option('--from <time>', 'due at or after, RFC 3339', moment)
    .option('--before <time>', 'due before, RFC 3339', moment)
    .addOption(limitFlag())
    .addOption(afterFlag())
  addClientFlags(command, context).action(
    async (name: string | undefined, flags: ClientFlags & EntriesQuery, self: Command) => {
      const { pools } = clientOf(flags, context)
      const out = output(self)
      const { key, prefix, group, state, from, before, limit, after } = flags
      const query = { key, prefix, group, state, from, before, limit, after }
      if (name !== undefined)
        return printPage(await pools.of(name).list({ ...query, limit: limit ?? 50 }), out)
      if (Object.values(query).some((value) => value !== undefined)) throw filterOfWhat()
      const listed = await pools.list()
      sayListed(listed.items.length, listed.total, out)
      return out.result(listed, () => formatPools(listed.items, out))
    },
  )
}

function filterOfWhat(): HeadraceError {
  return new HeadraceError('invalid_options', 'the flags are about entries, and no pool is named', {
    remedy: 'name the pool: headrace pool list vms --state due',
  })
}

interface MakeFlags extends ClientFlags {
  mode?: 'one' | 'each'
  partitions?: number
  deadFor?: number
  fansOut?: boolean
  throttle?: number
  payloads?: 'latest' | 'all'
}

function addMake(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('make <pool>')
    .description('make a pool, or find it as it is asked for')
    .addHelpText('before', examples('pool make vms', 'pool make vms --partitions 64 --dead-for 90d'))
    .addOption(
      new Option('--mode <mode>', 'one: an entry per key; each: per key and time').choices(['one', 'each']),
    )
    .option('--partitions <number>', 'fixed from then on', integer({ min: 1 }))
    .option('--dead-for <duration>', 'how long records of what was given up are kept', duration)
    .option('--fans-out', 'its entries go in the lane fanout, before others; fixed from then on')
    .option('--throttle <duration>', 'the least time from the end of a run to the next of its key', duration)
    .addOption(
      new Option('--payloads <which>', 'all: runs see those of all their puts; fixed').choices([
        'latest',
        'all',
      ]),
    )
  addClientFlags(command, context).action(async (name: string, flags: MakeFlags, self: Command) => {
    const { mode, partitions, deadFor, fansOut, throttle, payloads } = flags
    const settings = { mode, partitions, deadFor, fansOut, throttle, payloads }
    const made = await clientOf(flags, context).pools.make(name, settings)
    const out = output(self)
    out.result(made, () => formatPools([made], out))
  })
}

interface GetFlags extends ClientFlags {
  at?: string
  follow?: boolean
  limit?: number
  after?: string
}

function addGet(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('get <pool> <key>')
    .description('show the entry of a key; in a pool of mode each all of them, or with --at one')
    .addHelpText(
      'before',
      examples(
        'pool get vms vm-17',
        'pool get vms vm-17 --follow',
        'pool get reports r1 --at 2027-02-28T14:16:00Z',
      ),
    )
    .option('--at <time>', TIME_OF, moment)
    .option('--follow', 'print it whenever it changes, with the progress of its run, until it is gone')
    .addOption(limitFlag().conflicts(['at', 'follow']))
    .addOption(afterFlag().conflicts(['at', 'follow']))
  addClientFlags(command, context).action(
    async (name: string, key: string, flags: GetFlags, self: Command) => {
      const entries = clientOf(flags, context).pools.of(name)
      const out = output(self)
      const { at, limit, after, follow = false } = flags
      const isOne = at !== undefined || (await entries.settings()).mode === 'one'
      if (!isOne && follow) throw manyEntries(key)
      if (!isOne)
        return printSlots(await entries.list({ key, limit: limit ?? 50, after }), { key, after, out })
      if (limit !== undefined || after !== undefined) throw oneEntry(name)
      if (follow) return printChanges({ entries, key, at, signal: context.signal, output: out })
      const found = await entries.get(key, at)
      return out.result(found, () => formatEntry(found, out))
    },
  )
}

function printSlots(
  page: Page<EntryView>,
  { key, after, out }: { key: string; after: string | undefined; out: Output },
): void {
  if (page.items.length === 0 && after === undefined) throw entryUnknown(key)
  printPage(page, out)
}

function oneEntry(pool: string): HeadraceError {
  return new HeadraceError(
    'invalid_options',
    `a key of the pool ${pool} has one entry, and no pages of them`,
    {
      remedy: 'leave --limit and --after out',
    },
  )
}

function manyEntries(key: string): HeadraceError {
  const what = `the key ${JSON.stringify(key)} has an entry for each of its times, and one is followed`
  return new HeadraceError('invalid_options', what, { remedy: 'name it with --at' })
}

function entryUnknown(key: string): HeadraceError {
  return new HeadraceError('entry_unknown', `the key ${JSON.stringify(key)} has no entry`)
}

interface PutFlags extends ClientFlags, Pick<NewEntry, 'lane' | 'group' | 'onConflict' | 'payload'> {
  at?: string
  in?: number
  longestWait?: number
}

function addPut(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('put <pool> <key>')
    .description(
      'ask for work on a key; without a time it is due now, and in a pool of mode each a time is needed',
    )
    .addHelpText(
      'before',
      examples('pool put vms vm-17', 'pool put vms vm-17 --in 10m --on-conflict replace'),
    )
    .option('--at <time>', 'when it is due, RFC 3339; names the entry in a pool of mode each', moment)
    .addOption(new Option('--in <duration>', 'due after this long').argParser(duration).conflicts('at'))
    .option(
      '--payload <json>',
      'anything JSON can hold; its run gets it. A replace without one drops the payload',
      json,
    )
    .addOption(new Option('--lane <lane>', 'normal unless said').choices(LANES))
    .option('--group <group>', 'decides the partition; the key unless said')
    .addOption(
      new Option('--on-conflict <rule>', 'where the key waits already (default earliest)').choices(RULES),
    )
    .option('--longest-wait <duration>', 'with replace: puts put the run off for no longer', duration)
  addClientFlags(command, context).action(
    async (name: string, key: string, flags: PutFlags, self: Command) => {
      const { at, in: inMs, lane, group, onConflict, longestWait } = flags
      const entry = { key, at, in: inMs, lane, group, onConflict, longestWait }
      const payload = 'payload' in flags ? { payload: flags.payload } : {}
      const put = await clientOf(flags, context)
        .pools.of(name)
        .put({ ...entry, ...payload })
      output(self).result(put, () => formatPut(put))
    },
  )
}

type AddFlags = ClientFlags & Pick<PutFlags, 'at' | 'in' | 'lane' | 'group'>

function addAdd(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('add <pool> <payload>')
    .description('ask for a run of its own, under a fresh key; the payload is JSON')
    .addHelpText(
      'before',
      examples(`pool add mails '{"to":"ann"}'`, `pool add mails '{"to":"bob"}' --in 10m`),
    )
    .option('--at <time>', 'when it is due, RFC 3339', moment)
    .addOption(new Option('--in <duration>', 'due after this long').argParser(duration).conflicts('at'))
    .addOption(new Option('--lane <lane>', 'default normal').choices(LANES))
    .option('--group <group>', 'decides the partition; default the key')
  addClientFlags(command, context).action(
    async (name: string, payload: string, flags: AddFlags, self: Command) => {
      const { at, in: inMs, lane, group } = flags
      const added = await clientOf(flags, context)
        .pools.of(name)
        .add(json(payload), { at, in: inMs, lane, group })
      output(self).result(added, () => formatPut(added))
    },
  )
}

function addMove(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('move <pool> <key>')
    .description(
      'move the entry of a key to another time, with its payload, unless it is due already; a dead one is put again',
    )
    .addHelpText(
      'before',
      examples('pool move vms vm-17 --in 1h', 'pool move vms vm-17 --to 2027-03-01T00:00:00Z'),
    )
    .option('--at <time>', TIME_OF, moment)
  addClientFlags(addMoveFlags(command), context).action(
    async (name: string, key: string, flags: MoveFlags, self: Command) => {
      const moved = await clientOf(flags, context).pools.of(name).move(key, changeOf(flags, context))
      output(self).result(moved, () => formatPut(moved))
    },
  )
}

function addCancel(pool: Command, { context, output }: CommandParts): void {
  const command = pool
    .command('cancel <pool> <key>')
    .description('cancel the entry of a key; in a pool of mode each all of them, or with --at one')
    .addHelpText(
      'before',
      examples('pool cancel vms vm-17', 'pool cancel reports r1 --at 2027-02-28T14:16:00Z'),
    )
    .option('--at <time>', TIME_OF, moment)
  addClientFlags(command, context).action(
    async (name: string, key: string, flags: ClientFlags & { at?: string }, self: Command) => {
      const answer = await clientOf(flags, context).pools.of(name).cancel(key, flags.at)
      const out = output(self)
      const count = answer.cancelled + answer.due
      out.result(answer, () => `cancelled  ${escapeControls(key)}  ${out.count(count)}`)
      if (answer.due > 0) out.talk(`${out.count(answer.due)} of them due already: may be under way`)
    },
  )
}

function printPage(page: Page<EntryView>, output: Output): void {
  output.result(page, () => formatEntries(page.items, output))
  sayNext(page, output)
}

interface Following {
  entries: PoolClient
  key: string
  at: string | undefined
  signal: AbortSignal
  output: Output
}

async function printChanges({ entries, key, at, signal, output }: Following): Promise<void> {
  const changes = entries.follow(key, {
    at,
    signal,
    onLost: (error) => output.talk(`${escapeControls(messageOf(error))}; trying again`),
  })
  for await (const entry of changes) output.line(entry, () => formatChange(entry, output))
  signal.throwIfAborted()
  output.talk('gone: it is done, or was cancelled')
}

function formatPut({ result, key, dueAt, tally }: PutAnswer): string {
  return escapeControls(`${result}  ${key}  ${dueAt}  tally ${tally}`)
}
