// The address of a store as a flag, as a file, or from the environment: one of them.
import { type Command, Option } from 'commander'
import { readFileSync } from 'node:fs'
import { HeadraceError } from '../errors.ts'
import type { CliContext } from './context.ts'

export interface StoreFlags {
  store?: string
  storeFile?: string
}

const FILE_FLAG = '--store-file <file>'
const FILE_DOC = 'file that holds the address of the store, which other users could read as an argument'

/** For commands that take everything from the schema: `--store` is there already. */
export function addStoreFileFlag(command: Command): Command {
  return command.addOption(new Option(FILE_FLAG, `${FILE_DOC} (env HEADRACE_STORE_FILE)`))
}

/** For commands that otherwise talk to a server; the environment does not turn them to a store. */
export function addStoreFlags(command: Command, doc: string): Command {
  return command.option('--store <address>', doc).option(FILE_FLAG, FILE_DOC)
}

/** What the flags say; undefined if they name no store. */
export function storeOf({ store, storeFile }: StoreFlags): string | undefined {
  if (store !== undefined && storeFile !== undefined) throw refuseBoth('--store', '--store-file')
  return storeFile === undefined ? store : readLine(storeFile, 'the address of the store')
}

/** What the flags say, else the file that the environment names; undefined if neither does. */
export function storeGiven(flags: StoreFlags, env: CliContext['env']): string | undefined {
  const said = storeOf(flags)
  const file = env['HEADRACE_STORE_FILE'] ?? ''
  if (said !== undefined || file === '') return said
  if ((env['HEADRACE_STORE'] ?? '') !== '') throw refuseBoth('HEADRACE_STORE', 'HEADRACE_STORE_FILE')
  return readLine(file, 'the address of the store')
}

/** What a file holds, without the newline at its end. */
export function readLine(path: string, what: string): string {
  const remedy = `name a file that holds ${what} and nothing else`
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new HeadraceError('invalid_options', `the file ${path} cannot be read`, { cause, remedy })
  }
  if (text !== '') return text
  throw new HeadraceError('invalid_options', `the file ${path} holds nothing`, { remedy })
}

function refuseBoth(one: string, other: string): HeadraceError {
  return new HeadraceError('invalid_options', `${one} and ${other} are both given`, {
    remedy: 'give one of them',
  })
}
