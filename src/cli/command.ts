// What a command's file is handed to add itself to the command line.
import type { Command } from 'commander'
import type { CliContext } from './context.ts'
import type { Output } from './output.ts'

export interface CommandParts {
  program: Command
  context: CliContext
  /** The output that the flags of the running command ask for. */
  output: (command: Command) => Output
}

/** What every command has, wherever it stands on the line. */
export interface GlobalFlags {
  json?: boolean
  color: boolean
  verbose?: boolean
}
