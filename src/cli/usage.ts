// Wrong usage in our words: what Commander refuses becomes an error with a remedy, and a suggestion if there is
// one near.
import type { Command, CommanderError } from 'commander'
import { HeadraceError } from '../errors.ts'

/** How Commander ended: having shown what was asked for, or with wrong usage. */
export function usageError(error: CommanderError, program: Command, args: readonly string[]): HeadraceError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const suggestion = /\(Did you mean (.+)\?\)/.exec(rest.join(' '))?.[1]
  const [message, advice] = splitAdvice(first)
  const path = ['headrace', ...pathOf(program, args)].join(' ')
  const remedy = suggestion === undefined ? (advice ?? `see: ${path} --help`) : `did you mean ${suggestion}?`
  return new HeadraceError('invalid_options', message, { remedy })
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
