// Wrong usage in our words: what Commander refuses becomes an error with a remedy, and a suggestion if there is
// one near.
import type { Command, CommanderError } from 'commander'
import { HeadraceError } from '../errors.ts'
import { OPTIONS, type OptionName, flagName, isSecret } from '../options.ts'

/** What Commander refused, in one sentence, and what to do about it. */
export function usageError(error: CommanderError, program: Command, args: readonly string[]): HeadraceError {
  // A misspelt flag is refused with its value, which may be an address with a password.
  const [first = '', ...rest] = error.message
    .replace(/^error: /, '')
    .replace(/^(unknown option '--?[\w-]*)=[^\n]*'/, "$1'")
    .split('\n')
  const suggestion = /\(Did you mean (.+)\?\)/.exec(rest.join(' '))?.[1]
  const [message, advice] = splitAdvice(first)
  const path = ['headrace', ...pathOf(program, args)].join(' ')
  const nearest = suggestion ?? secretFlagOf(message)
  const remedy = nearest === undefined ? (advice ?? `see: ${path} --help`) : `did you mean ${nearest}?`
  return new HeadraceError('invalid_options', message, { remedy })
}

/** The flag that names the file of a secret, for one that would have held the secret itself. */
function secretFlagOf(message: string): string | undefined {
  const asked = /^unknown option '(--[a-z-]+)/.exec(message)?.[1]
  const names = (Object.keys(OPTIONS) as OptionName[]).filter(isSecret)
  return names.map(flagName).find((flag) => flag === `${asked}-file`)
}

/** Our readers of values end their words with what to write: Commander puts them behind "is invalid.". */
function splitAdvice(message: string): [string, string | null] {
  const [, fault, advice] = /^(.* is invalid)\. (.+)$/.exec(message) ?? []
  return fault === undefined || advice === undefined ? [message, null] : [fault, advice]
}

/** The commands that the arguments name, as far as they exist. */
function pathOf(program: Command, args: readonly string[]): string[] {
  const [name, ...rest] = args
  const command = program.commands.find((candidate) => candidate.name() === name)
  return command === undefined ? [] : [command.name(), ...pathOf(command, rest)]
}
