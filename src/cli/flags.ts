// Flags: those generated from the options schema, those that every command which talks to a server has, and
// the readers of their values.
import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { createClient, DEFAULT_SERVER, type Client } from '../client/client.ts'
import { parseTime, toIso } from '../clock.ts'
import { toMs } from '../duration.ts'
import { HeadraceError, messageOf } from '../errors.ts'
import {
  OPTIONS,
  type OptionName,
  type Options,
  envName,
  flagName,
  isSecret,
  resolveOptions,
} from '../options.ts'
import type { CliContext } from './context.ts'

/** Adds a flag for each named option of the schema. A secret is read from a file, never from the flag itself. */
export function addSchemaFlags(command: Command, names: readonly OptionName[]): Command {
  for (const name of names) {
    const { doc, default: fallback } = OPTIONS[name]
    const value = isSecret(name) ? '<file>' : '<value>'
    const notes = [...(fallback === null ? [] : [`default ${fallback}`]), `env ${envName(name)}`]
    const what = isSecret(name) ? `file that holds the ${doc}` : doc
    command.addOption(new Option(`${flagName(name)} ${value}`, `${what} (${notes.join(', ')})`))
  }
  return command
}

/** What the flags of a command say, then the environment, then the defaults. */
export function readSchemaFlags(
  flags: Record<string, string | undefined>,
  { names, env }: { names: readonly OptionName[]; env: CliContext['env'] },
): Options {
  const given: Record<string, unknown> = {}
  for (const name of names) {
    const text = isSecret(name) ? readSecret(flags[`${name}File`]) : flags[name]
    if (text !== undefined) given[name] = text
  }
  return resolveOptions(given, env)
}

function readSecret(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new HeadraceError('invalid_options', `the file ${path} cannot be read`, {
      cause,
      remedy: 'name a file that holds the token and nothing else',
    })
  }
}

/** Adds the flags of a command that talks to a server. */
export function addClientFlags(command: Command): Command {
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
export function serverOf(flags: ClientFlags, { env }: CliContext): { server: string; token: string | null } {
  return {
    server: flags.server ?? (env['HEADRACE_SERVER'] || DEFAULT_SERVER),
    token: readSecret(flags.tokenFile) ?? (env['HEADRACE_TOKEN']?.trim() || null),
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
