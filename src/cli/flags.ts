// Flags: those generated from the options schema, those that every command which talks to a server has, and
// the readers of their values.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { createClient, DEFAULT_SERVER, type Client } from '../client/client.ts'
import { parseTime, toIso } from '../clock.ts'
import { toMs } from '../duration.ts'
import { HeadraceError, messageOf } from '../errors.ts'
import {
  OPTIONS,
  type OptionName,
  type Options,
  checkToken,
  envName,
  flagName,
  isSecret,
  resolveOptions,
} from '../options.ts'
import type { CliContext, ServerAddress } from './context.ts'
import { serveStore } from './local-server.ts'
import {
  type StoreFlags,
  addStoreFileFlag,
  addStoreFlags,
  readLine,
  storeGiven,
  storeOf,
} from './store-flags.ts'

/** Adds a flag for each named option of the schema. A secret is read from a file, never from the flag itself. */
export function addSchemaFlags(command: Command, names: readonly OptionName[]): Command {
  for (const name of names) {
    const { doc, default: fallback } = OPTIONS[name]
    const value = isSecret(name) ? '<file>' : '<value>'
    const notes = [...(fallback === null ? [] : [`default ${fallback}`]), `env ${envName(name)}`]
    const what = isSecret(name) ? `file that holds the ${doc}` : doc
    command.addOption(schemaFlag(name, value, `${what} (${notes.join(', ')})`))
    if (name === 'store') addStoreFileFlag(command)
  }
  return command
}

function schemaFlag(name: OptionName, value: string, what: string): Option {
  const shape = OPTIONS[name]
  if (!('bare' in shape)) return new Option(`${flagName(name)} ${value}`, what)
  return new Option(`${flagName(name)} [value]`, what).preset(shape.bare)
}

/** What the flags of a command say, then the environment, then the defaults. */
export function readSchemaFlags(
  flags: Record<string, string | undefined>,
  { names, env }: { names: readonly OptionName[]; env: CliContext['env'] },
): Options {
  const given: Record<string, unknown> = {}
  for (const name of names) {
    const text = textOf(name, flags, env)
    if (text !== undefined) given[name] = text
  }
  return resolveOptions(given, env)
}

function textOf(
  name: OptionName,
  flags: Record<string, string | undefined>,
  env: CliContext['env'],
): string | undefined {
  if (name === 'store') return storeGiven(flags, env)
  return isSecret(name) ? readSecret(flags[`${name}File`]) : flags[name]
}

function readSecret(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readLine(path, 'the token')
}

/** A command whose action can be set. */
export interface Actionable {
  action(run: Parameters<Command['action']>[0]): void
}

/** Adds the flags of a command that reads or controls: on a server, or on a store without one. */
export function addClientFlags(command: Command, context: CliContext): Actionable {
  addServerFlags(addStoreFlags(command, 'work on this store itself, without a server'))
  return {
    action: (run) => {
      command.action(async (...given) => {
        // The last one is the command; flags may stand before its name, too.
        const flags = (given.at(-1) as Command).optsWithGlobals<ClientFlags & StoreFlags>()
        await withStore(flags, context, () => run.apply(command, given))
      })
    },
  }
}

/** Refuses a server beside a store. */
export function refuseTwo({ server }: ClientFlags): void {
  if (server === undefined) return
  throw new HeadraceError('invalid_options', 'a store and a server are both given', {
    remedy: 'give --server to ask a server, or --store to work on a store without one',
  })
}

/** Serves the store that the flags name, if they do, while the command runs. */
async function withStore(
  flags: ClientFlags & StoreFlags,
  context: CliContext,
  run: () => Promise<void> | void,
): Promise<void> {
  const store = storeOf(flags)
  if (store === undefined) return run()
  refuseTwo(flags)
  const { token } = serverOf(flags, context)
  const local = await serveStore(store, { clock: context.clock, token })
  context.local = local
  try {
    await run()
  } finally {
    delete context.local
    await local.close()
  }
}

/** Adds the flags of a command that talks to a server. */
export function addServerFlags(command: Command): Command {
  return command
    .option('--server <url>', `address of the server (default ${DEFAULT_SERVER}, env HEADRACE_SERVER)`)
    .option('--token-file <file>', 'file that holds the bearer token (env HEADRACE_TOKEN)')
    .option('--timeout <duration>', 'how long a request may take, at most a minute (default 30s)', duration)
}

export interface ClientFlags {
  server?: string
  tokenFile?: string
  timeout?: number
}

/** The server that a command is about, and the token for it. */
export function serverOf(flags: ClientFlags, { env, local }: CliContext): ServerAddress {
  if (local !== undefined) return local
  const token = readSecret(flags.tokenFile) ?? (env['HEADRACE_TOKEN'] || null)
  return {
    server: flags.server ?? (env['HEADRACE_SERVER'] || DEFAULT_SERVER),
    token: token === null ? null : checkToken(token.trim(), 'token (--token-file, HEADRACE_TOKEN)'),
  }
}

export function clientOf(flags: ClientFlags, context: CliContext): Client {
  const { server, token } = serverOf(flags, context)
  return createClient({
    server,
    token: token ?? undefined,
    signal: context.signal,
    clock: context.clock,
    ...(flags.timeout === undefined ? {} : { timeout: flags.timeout }),
  })
}

/** The flags of a move: to when. */
export interface MoveFlags extends ClientFlags {
  at?: string
  to?: string
  in?: number
}

export function addMoveFlags(command: Command): Command {
  return command
    .option('--to <time>', 'the new time, RFC 3339', moment)
    .addOption(new Option('--in <duration>', 'the new time, from now').argParser(duration).conflicts('to'))
}

/** From when to when a move goes. */
export function changeOf(
  { at, to, in: inMs }: MoveFlags,
  { clock }: CliContext,
): { from: string | null; to: string } {
  const from = at ?? null
  if (to !== undefined) return { from, to }
  if (inMs !== undefined) return { from, to: toIso(clock.now() + inMs) }
  throw new HeadraceError('invalid_options', 'the new time is missing', {
    remedy: 'give it with --to 2027-03-01T00:00:00Z or --in 10m',
  })
}

/** Milliseconds of `250ms`, `10s`, `5m`, `2h` or `7d`. */
export function duration(text: string): number {
  try {
    return toMs(/^\d+$/.test(text) ? Number(text) : text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof HeadraceError ? (error.remedy ?? '') : messageOf(error))
  }
}

/** RFC 3339 in UTC. */
export function moment(text: string): string {
  const ms = parseTime(text)
  if (ms === null) throw new InvalidArgumentError('write RFC 3339 with a zone, such as 2027-02-28T14:16:00Z')
  return toIso(ms)
}

/** A reader of whole numbers. */
export function integer({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    const upTo = max === Number.MAX_SAFE_INTEGER ? 'on' : `to ${max}`
    throw new InvalidArgumentError(`give a whole number from ${min} ${upTo}`)
  }
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new InvalidArgumentError(`it is no JSON (${messageOf(error)}); a text needs its quotes: '"hello"'`)
  }
}
