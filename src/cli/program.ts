// The command line as a whole: every command, and what they have in common. Each command's file adds itself.
import { Command, Option } from 'commander'
import { VERSION } from '../version.ts'
import type { CommandParts, GlobalFlags } from './command.ts'
import type { CliContext } from './context.ts'
import { addDoctor } from './doctor.ts'
import { addGenerate } from './generate.ts'
import { addMigrate } from './migrate.ts'
import { type Output, createOutput, hasColor } from './output.ts'
import { addPool } from './pool.ts'
import { addRoster } from './roster.ts'
import { addServe } from './serve.ts'
import { addStatus } from './status.ts'
import { addTick } from './tick.ts'
import { addTopic } from './topic.ts'
import { addWhy } from './why.ts'

const EXAMPLES = `Examples:
  $ headrace serve                                  start a server
  $ headrace tick add user1234 --in 10s             ask for a tick in ten seconds
  $ headrace topic read ticks --follow              watch ticks as they fall due
  $ headrace pool put vms vm-17                     ask for work on a key, now
  $ headrace pool list vms --state backing-off      what failed and waits to be tried again
  $ headrace why vm-17 --pool vms                   why it does not run yet
  $ headrace generate --duration 30s                load the server and measure it
`

export function createProgram(context: CliContext): Command {
  const program = new Command('headrace')
  program
    .description('Turns time and events into work.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--json', 'print JSON: one document, or one a line where results come bit by bit')
    .addOption(new Option('--no-color', 'no colours (env NO_COLOR)'))
    .option('--verbose', 'show stack traces of errors')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      // main.ts prints errors, as it must know them for the exit code.
      outputError: () => undefined,
    })
    .exitOverride()
    .addHelpText('before', EXAMPLES)
  const parts: CommandParts = { program, context, output: (command) => outputOf(command, context) }
  addServe(parts)
  addStatus(parts)
  addWhy(parts)
  addRoster(parts)
  addTick(parts)
  addPool(parts)
  addTopic(parts)
  addGenerate(parts)
  addDoctor(parts)
  addMigrate(parts)
  return program
}

function outputOf(command: Command, context: CliContext): Output {
  const { json = false, color } = command.optsWithGlobals<GlobalFlags>()
  return createOutput(context, { json, color: hasColor(context.stdout, { env: context.env, asked: color }) })
}
