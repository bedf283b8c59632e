import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommanderError } from 'commander'
import { OPTIONS, type OptionName, envName, flagName, isForLibrary } from '../../../src/options.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { systemClock } from '../../../src/clock.ts'

async function help(...args: string[]): Promise<string> {
  let text = ''
  const stream = { write: (part: string) => void (text += part) }
  const program = createProgram({
    stdout: stream,
    stderr: stream,
    env: {},
    clock: systemClock,
    startedAt: 0,
    signal: new AbortController().signal,
  })
  await assert.rejects(program.parseAsync([...args, '--help'], { from: 'user' }), CommanderError)
  return text
}

const COMMANDS = [
  '',
  'serve',
  'migrate',
  'status',
  'why',
  'generate',
  'roster',
  'roster drain',
  'roster undrain',
  'roster rebalance',
  'roster step-down',
  'roster allotments',
  'doctor',
  'tick',
  'tick add',
  'tick get',
  'tick list',
  'tick cancel',
  'tick move',
  'pool',
  'pool list',
  'pool make',
  'pool get',
  'pool put',
  'pool cancel',
  'pool dead',
  'pool redrive',
  'pool pause',
  'pool resume',
  'pool limits',
  'pool remove',
  'topic',
  'topic list',
  'topic read',
]

for (const command of COMMANDS) {
  test(`the help of "${`headrace ${command}`.trim()}" starts with examples and shows --json`, async () => {
    const text = await help(...command.split(' ').filter((word) => word !== ''))
    assert.match(text, /^Examples:\n {2}\$ /)
    assert.match(text, /--json/)
  })
}

test('serve has a flag for every option of the schema that is not for the library alone, with its environment name', async () => {
  const text = (await help('serve')).replaceAll(/\s+/g, ' ')
  const names = (Object.keys(OPTIONS) as OptionName[]).filter((name) => !isForLibrary(name))
  for (const name of names) {
    assert.ok(
      [' <', ' ['].some((sign) => text.includes(flagName(name) + sign)),
      flagName(name),
    )
    assert.ok(text.includes(`env ${envName(name)})`), envName(name))
  }
})
