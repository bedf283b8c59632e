// docs/reference/cli.md: what --help prints for every command, and the exit codes.
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { CliContext } from '../../src/cli/context.ts'
import { createProgram } from '../../src/cli/program.ts'
import { systemClock } from '../../src/clock.ts'
import { assert } from '../../src/errors.ts'
import { block, code, page, table } from './markdown.ts'

const WIDTH = 100
const main = new URL('../../src/cli/main.ts', import.meta.url)

const MEANING: Record<string, string> = {
  done: 'It was done.',
  failed: 'It failed; the message says why.',
  usage: 'The command line, an option or a value is wrong.',
  unreachable: 'The server cannot be reached or is not ready; it may be over in a moment.',
  notFound: 'There is no such pool, entry, tick, topic, partition, offset or member.',
  conflict:
    'It contradicts what is there: a tick that is due, an entry that holds as many payloads as it may, other settings, a taken port.',
  notPermitted: 'A token is missing or wrong.',
  thresholdMissed:
    'It ran, and missed what was asked of it, such as `generate --at-least`; or `doctor` found a fault.',
  interrupted: 'SIGINT (Ctrl-C) ended it before its work was done.',
  terminated: 'SIGTERM ended it before its work was done.',
}

export function writeCliPage(): string {
  let printed = ''
  const sink = { write: (text: string) => void (printed += text) }
  const program = createProgram(contextOf(sink))
  const helpOf = (command: Command): string => {
    const isRoot = command.parent === null
    command.configureHelp({ helpWidth: WIDTH, showGlobalOptions: isRoot })
    printed = ''
    command.outputHelp()
    return printed
  }
  return page(
    'Command line',
    '`src/cli`',
    'From a checkout: `npm run -s headrace -- ARGS`; installed: `npx headrace ARGS`. Results go to stdout, talk to ' +
      'stderr. The options of `headrace` itself hold for every command.',
    ...commandsOf(program).flatMap((command) => [`## ${nameOf(command)}`, block('text', helpOf(command))]),
    '## Exit codes',
    table(['code', 'when'], exitCodes()),
  )
}

function contextOf(sink: CliContext['stdout']): CliContext {
  const signal = new AbortController().signal
  return { stdout: sink, stderr: sink, env: {}, clock: systemClock, startedAt: 0, signal }
}

function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)]
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

/** main.ts runs the command line when it is loaded, so its table of exit codes is read as text. */
function exitCodes(): string[][] {
  const [, body = ''] = /^const EXIT = \{\n([^}]+)\}/m.exec(readFileSync(main, 'utf8')) ?? []
  return [...body.matchAll(/(\w+): (\d+),/g)].map(([, name = '', number = '']) => {
    const meaning = MEANING[name]
    assert(meaning !== undefined, `the exit code ${name} has a meaning`)
    return [code(number), meaning]
  })
}
