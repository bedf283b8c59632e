// docs/reference/options.md, from the options schema.
import { OPTIONS, type OptionName, envName, flagName, isForLibrary } from '../../src/options.ts'
import { code, page, table } from './markdown.ts'

type Shape = (typeof OPTIONS)[OptionName] & { min?: number; max?: number; choices?: readonly string[] }

export function writeOptionsPage(): string {
  const rows = Object.entries(OPTIONS).map(([name, shape]) => [
    code(name),
    ...(isForLibrary(name as OptionName)
      ? ['-', '-']
      : [code(flagName(name as OptionName)), code(envName(name as OptionName))]),
    valueOf(shape),
    shape.default === null ? 'none' : code(String(shape.default)),
    shape.doc,
  ])
  return page(
    'Options',
    '`src/options.ts`',
    'An option given to `headrace()` or as a flag of `headrace serve` wins over the environment, which wins over ' +
      'the default. A duration is a number of milliseconds or a text such as `250ms`, `10s`, `5m`, `2h`, `7d`. An ' +
      'unknown option, or a value that is not allowed, is refused with `invalid_options` before anything starts.',
    'A secret is never a flag, because other users of a machine can read the arguments of a process: its flag ' +
      'names a file. The address of a store may hold a password: `--store-file FILE` or `HEADRACE_STORE_FILE` reads it from ' +
      'a file, on the command line.',
    table(['option', 'flag of `serve`', 'environment', 'value', 'default', 'is'], rows),
  )
}

function valueOf({ kind, min, max, choices }: Shape): string {
  if (choices !== undefined) return choices.map(code).join(' or ')
  return min === undefined || max === undefined ? kind : `${kind}, ${min} to ${max}`
}
