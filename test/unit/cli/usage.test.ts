import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommanderError } from 'commander'
import { createProgram } from '../../../src/cli/program.ts'
import { usageError } from '../../../src/cli/usage.ts'
import { systemClock } from '../../../src/clock.ts'
import { runProgram } from './run-cli.ts'

async function refuse(line: string): Promise<string> {
  const args = line.split(' ')
  const error: unknown = await runProgram(args).then(
    () => assert.fail(`${line} was accepted`),
    (reason: unknown) => reason,
  )
  if (!(error instanceof CommanderError)) return String(error)
  const program = createProgram({
    stdout: process.stdout,
    stderr: process.stderr,
    env: {},
    clock: systemClock,
    startedAt: 0,
    signal: new AbortController().signal,
  })
  const { message, remedy } = usageError(error, program, args)
  return `${message}: ${remedy}`
}

test('a wrong word gets the nearest one as a suggestion', async () => {
  assert.equal(await refuse('tik'), "unknown command 'tik': did you mean tick?")
  assert.equal(await refuse('tick ad x'), "unknown command 'ad': did you mean add?")
  assert.equal(await refuse('tick list --limt 3'), "unknown option '--limt': did you mean --limit?")
  assert.equal(await refuse('serve --prt 1'), "unknown option '--prt': did you mean --port?")
})

test('a word without a near one gets the way to the help', async () => {
  assert.match(await refuse('tick add a --zzzzzzzz'), /: see: headrace tick add --help$/)
  assert.match(await refuse('tick add'), /missing required argument 'item': see: headrace tick add --help$/)
})

test('a bad value is named with its flag and what to write instead', async () => {
  assert.match(
    await refuse('tick add a --in 10x'),
    /'--in <duration>' argument '10x' is invalid: write .*'10s'/,
  )
  assert.match(
    await refuse('tick add a --at today'),
    /'--at <time>' argument 'today' is invalid: write RFC 3339/,
  )
  assert.match(await refuse('tick list --limit 0'), /argument '0' is invalid: give a whole number from 1 to/)
  assert.match(
    await refuse('tick add a --payload {'),
    /'--payload <json>' argument '\{' is invalid: it is no JSON/,
  )
  assert.match(
    await refuse('tick list --state gone'),
    /argument 'gone' is invalid: Allowed choices are waiting, due/,
  )
  assert.match(
    await refuse('topic read t --from 1.5'),
    /argument '1.5' is invalid: write oldest, head or an offset/,
  )
})

test('flags that exclude each other are refused', async () => {
  assert.match(await refuse('tick add a --in 1s --at 2027-01-01T00:00:00Z'), /cannot be used with/)
  assert.match(await refuse('topic read t --from 5'), /an offset is of one partition/)
  assert.match(await refuse('tick move a --at 2027-01-01T00:00:00Z'), /the new time is missing/)
})

test('a secret is not accepted as the value of a flag', async () => {
  assert.equal(await refuse('serve --token x'), "unknown option '--token': did you mean --token-file?")
})

test('an option of serve is checked before anything is opened', async () => {
  assert.match(await refuse('serve --store memory: --port 70000'), /the option port .* is "70000"/)
  assert.match(await refuse('serve --store memory: --ticks-mode both'), /the option ticksMode .* is "both"/)
  assert.match(await refuse('serve --store memory: --retention 1y'), /the option retention .* is "1y"/)
  assert.match(await refuse('serve --token-file ./no/such/file'), /cannot be read/)
})
