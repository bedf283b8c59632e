import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatError } from '../../../src/cli/errors.ts'
import { HeadraceError } from '../../../src/errors.ts'

const PLAIN = { json: false, color: false, verbose: false }

const taken = new HeadraceError('address_in_use', 'the port 7400 is taken', {
  cause: new Error('listen EADDRINUSE'),
  remedy: 'choose another with --port',
})

test('an error has four lines: what failed, what was said, why, what to try', () => {
  assert.equal(
    formatError(taken, PLAIN),
    [
      'error[address_in_use]  the port 7400 is taken',
      '  what     listen EADDRINUSE',
      '  why      The port is taken',
      '  try      choose another with --port',
      '',
    ].join('\n'),
  )
})

test('with --json an error is a problem document', () => {
  assert.deepEqual(JSON.parse(formatError(taken, { ...PLAIN, json: true })), {
    type: 'urn:headrace:address_in_use',
    title: 'The port is taken',
    detail: 'the port 7400 is taken',
    code: 'address_in_use',
    remedy: 'choose another with --port',
    retryable: false,
  })
})

test("the server's own document is shown whole, each of its errors on a line", () => {
  const cause = { status: 400, instance: '/ticks', errors: [{ path: 'at', message: 'is missing' }] }
  const error = new HeadraceError('invalid_input', 'one field is wrong', { cause, remedy: 'correct it' })
  const document = JSON.parse(formatError(error, { ...PLAIN, json: true })) as Record<string, unknown>
  assert.deepEqual([document['status'], document['instance']], [400, '/ticks'])
  assert.match(formatError(error, PLAIN), /\n {2}what {5}at: is missing\n/)
})

test('control characters in the words of others are escaped', () => {
  const error = new HeadraceError('store_failed', 'bad \u001b[2J', { remedy: 'see \u009b' })
  assert.doesNotMatch(formatError(error, { ...PLAIN, verbose: true }).replaceAll('\n', ''), /\p{Cc}/u)
  assert.match(formatError(error, PLAIN), /bad \\u001b\[2J\n[^]*try {6}see \\u009b\n$/)
})

test('what to try is said in commands, where the server speaks of routes', () => {
  const error = new HeadraceError('tick_unknown', 'no such tick', { remedy: 'GET /v1/ticks' })
  assert.match(formatError(error, PLAIN), /try {6}.*headrace topic read ticks.*headrace tick list\n$/)
  assert.match(formatError(error, { ...PLAIN, json: true }), /GET \/v1\/ticks/)
  const refused = new HeadraceError('unauthorized', 'no', { remedy: 'send Authorization: Bearer TOKEN' })
  assert.match(formatError(refused, PLAIN), /try {6}set HEADRACE_TOKEN.*--token-file/)
})

test('a stack is shown only with --verbose, with its causes', () => {
  assert.doesNotMatch(formatError(taken, PLAIN), /\n {4}at /)
  const text = formatError(taken, { ...PLAIN, verbose: true })
  assert.match(text, /\n {4}at /)
  assert.match(text, /caused by Error: listen EADDRINUSE/)
})

test('a surprise is an internal error, and says how to learn more', () => {
  const text = formatError(new TypeError('x is not a function'), PLAIN)
  assert.match(text, /^error\[internal\] {2}x is not a function\n/)
  assert.match(text, /--verbose/)
})

test('colour is only for the label', () => {
  const text = formatError(taken, { ...PLAIN, color: true })
  assert.ok(text.startsWith('\u001B[31merror[address_in_use]\u001B[39m  the port'), JSON.stringify(text))
})
