import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../src/errors.ts'
import { OPTIONS, envName, flagName, resolveOptions } from '../../src/options.ts'

function refusal(given: object, env: Record<string, string> = {}): HeadraceError {
  try {
    resolveOptions(given, env)
  } catch (error) {
    if (error instanceof HeadraceError) return error
    throw error
  }
  throw new assert.AssertionError({ message: 'the options were accepted' })
}

test('without anything every option has its default, durations in milliseconds', () => {
  assert.deepEqual(resolveOptions({}), {
    store: 'sqlite:./.headrace/headrace.db',
    host: '127.0.0.1',
    port: 7400,
    token: null,
    behindProxy: 'no',
    partitions: 32,
    retention: null,
    ticksMode: 'each',
    ticksRemember: null,
    join: 'yes',
    lease: 3000,
    weight: 1,
    name: null,
    address: null,
    drainWithin: 30_000,
    signals: null,
    log: 'warn',
  })
})

test('what was given wins over the environment, and the environment over the default', () => {
  const env = { HEADRACE_PORT: '7500', HEADRACE_TICKS_REMEMBER: '10m', HEADRACE_DRAIN_WITHIN: '500' }
  const { port, ticksRemember, drainWithin } = resolveOptions({ port: 7600 }, env)
  assert.deepEqual([port, ticksRemember, drainWithin], [7600, 600_000, 500])
})

test('an empty variable counts as absent', () => {
  assert.equal(resolveOptions({}, { HEADRACE_PORT: '', HEADRACE_TOKEN: '' }).port, 7400)
})

test('names of variables and flags follow from the name of the option', () => {
  assert.equal(envName('ticksMode'), 'HEADRACE_TICKS_MODE')
  assert.equal(flagName('ticksMode'), '--ticks-mode')
})

test('an unknown option is refused, and the nearest one suggested', () => {
  const error = refusal({ prot: 1 })
  assert.deepEqual([error.code, error.remedy], ['invalid_options', 'did you mean port?'])
  assert.match(refusal({ somethingElse: 1 }).remedy ?? '', /choose store, host/)
})

test('a name that every object has is an unknown option, too', () => {
  assert.match(refusal({ constructor: 1 }).message, /no option "constructor"/)
})

const bad: [name: keyof typeof OPTIONS, value: unknown, remedy: RegExp][] = [
  ['port', 65_536, /from 0 to 65535/],
  ['port', -1, /from 0 to 65535/],
  ['port', '7400x', /whole number/],
  ['port', ' ', /whole number/],
  ['partitions', 0, /from 1 to 1024/],
  ['partitions', 1.5, /whole number/],
  ['ticksMode', 'both', /choose each or one/],
  ['retention', 'soon', /'250ms'/],
  ['lease', 0, /at least 100 ms/],
  ['store', '', /give a text/],
  ['address', 'worker-1:7400', /http or https URL/],
  ['address', 'ftp://worker-1', /http or https URL/],
  ['address', 'http://', /http or https URL/],
  ['address', 'http://h:99999', /http or https URL/],
  ['address', 'http://user@h', /without user, query/],
  ['address', 'http://h/?a=b', /without user, query/],
]

for (const [name, value, remedy] of bad) {
  test(`the option ${name} is refused as ${JSON.stringify(value)}, with a remedy`, () => {
    const error = refusal({ [name]: value })
    assert.equal(error.code, 'invalid_options')
    assert.match(error.remedy ?? '', remedy)
  })
}

test('a refused option is named with its flag and variable', () => {
  assert.match(refusal({}, { HEADRACE_PORT: 'x' }).message, /port \(--port, HEADRACE_PORT\) is "x"/)
  assert.match(
    refusal({}, { HEADRACE_DRAIN_WITHIN: 'soon' }).message,
    /drainWithin \(--drain-within, HEADRACE_DRAIN_WITHIN\) is "soon"/,
  )
})

test('a secret is masked when it is refused', () => {
  const { message, remedy } = refusal({ token: 'a-short-one' })
  assert.doesNotMatch(message + (remedy ?? ''), /a-short-one/)
})

test('a token from the environment has no blanks around it', () => {
  assert.equal(
    resolveOptions({}, { HEADRACE_TOKEN: ' a-secret-of-16-chars\n' }).token,
    'a-secret-of-16-chars',
  )
})

test('a blank or short token is refused, wherever it comes from, and one that no header can carry', () => {
  for (const token of [' ', '\n', '\t ', 'x'.repeat(15), 'two words are no token', 'naïve-but-long-enough']) {
    for (const refused of [refusal({ token }), refusal({}, { HEADRACE_TOKEN: token })]) {
      assert.match(refused.message, /token \(--token-file, HEADRACE_TOKEN\) is/, JSON.stringify(token))
      assert.match(refused.remedy ?? '', /at least 16 .*openssl rand/)
      if (token.trim() !== '') assert.doesNotMatch(refused.message, new RegExp(token))
    }
  }
  assert.equal(resolveOptions({ token: 'x'.repeat(16) }).token, 'x'.repeat(16))
  assert.equal(resolveOptions({}, { HEADRACE_TOKEN: '' }).token, null)
})

test('a value of another kind is refused with what the option takes, and an object is not printed', () => {
  const refused: [object, RegExp, RegExp][] = [
    [{ store: { url: 'postgres://u:s3cret@h/d' } }, /the option store .* is an object$/, /^give a text$/],
    [{ behindProxy: true }, /the option behindProxy .* is true$/, /^choose no or yes$/],
    [{ port: true }, /the option port .* is true$/, /^give a whole number$/],
    [{ log: () => undefined }, /the option log .* is a function$/, /^choose silent or warn or info/],
    [
      { log: { url: 's3cret' } },
      /the option log .* is an object$/,
      /^choose silent or warn or info, or give a logger/,
    ],
  ]
  for (const [given, says, suggests] of refused) {
    const { message, remedy } = refusal(given)
    assert.match(message, says)
    assert.match(remedy ?? '', suggests)
    assert.doesNotMatch(message, /s3cret/)
  }
})
