// Addresses as they are printed: without what may be a secret, however they are written.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createClient } from '../../src/client/client.ts'
import { maskAddress, maskAddressesIn } from '../../src/mask.ts'
import { resolveOptions } from '../../src/options.ts'
import { parseAddress } from '../../src/stores/postgres/address.ts'
import { runProgram, startCli } from './cli/run-cli.ts'

/** Each holds `s3cret` where a password may be, or pieces of it. */
const hostile: [address: string, masked: string][] = [
  ['postgres://me:s3cret@db/x', 'postgres://me:***@db/x'],
  ['postgres://me:s3cret@db:5432/x?schema=a&max=5', 'postgres://me:***@db:5432/x?schema=a&max=5'],
  ['postgres://me:s3c/s3cret@db/x', 'postgres://me:***@db/x'],
  ['postgres://me:s3c@s3cret@db/x', 'postgres://me:***@db/x'],
  ['postgres://me:s3c:s3cret@db/x', 'postgres://me:***@db/x'],
  ['postgres://me:s3c?s3cret@db/x', 'postgres://me:***@db/x'],
  ['postgres://me:s3c#s3cret@db/x', 'postgres://me:***@db/x'],
  ['postgres://me:1/s3cret@db/x', 'postgres://me:***@db/x'],
  ['postgres://me:s3cret%40%2F@db/x', 'postgres://me:***@db/x'],
  ['postgres://me%3As3cret@db/x', 'postgres://***@db/x'],
  ['postgres://:s3cret@db/x', 'postgres://:***@db/x'],
  ['postgres://me:s3cret@[::1]:5432/x', 'postgres://me:***@[::1]:5432/x'],
  ['postgres://me:s3cret@a:1,b:2,[::1]/x', 'postgres://me:***@a:1,b:2,[::1]/x'],
  ['postgres://db/x?user=me&password=s3cret', 'postgres://db/x?user=***&password=***'],
  ['postgres://db/x?a=1;sslpassword=s3cret', 'postgres://db/x?a=***&sslpassword=***'],
  ['postgres:///x?host=/var/run/pg&password=s3cret', 'postgres:///x?host=/var/run/pg&password=***'],
  ['postgres://me:s3cret@%2Fvar%2Frun/x', 'postgres://me:***@%2Fvar%2Frun/x'],
  ['socket:/var/run/pg?password=s3cret', 'socket:/var/run/pg?password=***'],
  ['postgres://db/x#s3cret', 'postgres://db/x#***'],
  ['postgres://me:s3cret', 'postgres://me:***'],
  ['postgres:me:s3cret@db/x', 'postgres:me:***@db/x'],
  ['postgres:/me:s3cret@db/x', 'postgres:/me:***@db/x'],
  ['postgres:s3cret@db/x', 'postgres:***@db/x'],
  ['me:s3cret@db/x', 'me:***@db/x'],
  ['me/s3cret@db/x', '***@db/x'],
  ['host=db user=me password=s3cret', 'host=db user=me password=***'],
  ["host=db PASSWORD = 's3 s3cret'", 'host=db PASSWORD=***'],
  ['redis://me:s3cret@db\n:6379', 'redis://me:***@db\n:6379'],
  ['http://me:s3cret@host:7400', 'http://me:***@host:7400'],
  ['https://s3cret@host', 'https://***@host'],
  ['HTTP://me:s3cret@host', 'HTTP://me:***@host'],
  ['http:\\\\me:s3cret@host', 'http:\\\\me:***@host'],
  ['http://host:7400/?token=s3cret', 'http://host:7400/?token=***'],
]

for (const [address, masked] of hostile) {
  test(`${JSON.stringify(address)} is shown without its secret`, () => {
    assert.equal(maskAddress(address), masked)
    assert.doesNotMatch(maskAddress(address), /s3c/)
    assert.equal(maskAddress(maskAddress(address)), maskAddress(address))
  })
}

test('an address without a secret is shown as it is', () => {
  const plain = [
    'sqlite:./a@b/headrace.db',
    'memory:',
    'postgres://me@db:5432/x',
    'http://127.0.0.1:7400',
    '',
  ]
  const more = [
    'http://[::1]:7400',
    'postgres://a:1,b:2/x?sslmode=require',
    'nonsense',
    'sqlite:/x.db?mode=ro',
  ]
  for (const address of [...plain, ...more]) assert.equal(maskAddress(address), address)
})

test('addresses within a text are masked, and the rest of it is not', () => {
  const text = 'no "postgres://me:s3cret@db/x", nor http://me:s3/cret@host:1; http://127.0.0.1:7400 is'
  const masked = 'no "postgres://me:***@db/x", nor http://me:***@host:1; http://127.0.0.1:7400 is'
  assert.equal(maskAddressesIn(text), masked)
})

test('a PostgreSQL address whose password has an unescaped / or @ is refused without showing it', () => {
  for (const address of [
    'postgres://me:12/s3cret@db/x',
    'postgres://me:12?s3cret@db',
    'postgres://me:a@1/s3cret@db/x',
  ]) {
    assert.throws(
      () => parseAddress(address),
      (error: Error & { remedy: string }) => {
        assert.doesNotMatch(error.message, /s3c/)
        assert.match(error.remedy, /%40/)
        return true
      },
    )
  }
  assert.equal(parseAddress('postgres://me:s3cret%2F@db/x?password=s3cret').shown, 'postgres://me@db/x')
})

test('an option and a server address that are refused are shown without their secret', () => {
  const refused = { code: 'invalid_options', message: /http:\/\/me:\*\*\*@host/ }
  assert.throws(() => resolveOptions({ address: 'http://me:s3cret@host:1' }), refused)
  assert.throws(() => createClient({ server: 'http://me:s3cret@host:1' }), {
    ...refused,
    remedy: /--token-file/,
  })
  assert.throws(() => createClient({ server: 'ftp://me:s3cret@host:1' }), {
    code: 'invalid_options',
    message: /ftp:\/\/me:\*\*\*@host/,
  })
})

test('no command prints the password of an address, be it refused, unreachable or misspelt', async () => {
  const address = 'postgres://me:s3c%2Fret@127.0.0.1:1/x?password=s3cret'
  const lines = [
    ['doctor', '--store', address],
    ['doctor', '--store', address, '--json'],
    ['migrate', '--store', address, '--verbose'],
    ['serve', '--store', 'redis://me:s3cret@db/x'],
    ['serve', `--stor=${address}`],
    ['serve', '--port', 'http://me:s3cret@host'],
    ['status', '--server', 'http://me:s3cret@127.0.0.1:1', '--verbose'],
    ['doctor', '--server', 'http://me:s3cret@127.0.0.1:1', '--json'],
    ['http://me:s3cret@host'],
  ]
  for (const line of lines) {
    const { code, stdout, stderr } = await startCli(line).exited
    assert.notEqual(code, 0, line.join(' '))
    assert.doesNotMatch(stdout + stderr, /s3c/, line.join(' '))
  }
})

test('the address of a store is read from a file, by flag or environment, and not from both', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'store')
  await writeFile(file, `sqlite:${folder}/headrace.db\n`)
  await writeFile(join(folder, 'blank'), ' \n')
  const env = { HEADRACE_STORE_FILE: file }
  const shown = [
    await runProgram(['migrate', '--store-file', file, '--json']),
    await runProgram(['migrate', '--json'], { env }),
    await runProgram(['doctor', '--store-file', file, '--json']),
  ]
  for (const { stdout } of shown) assert.match(stdout, /headrace\.db/)
  const both = runProgram(['migrate', '--store', 'memory:', '--store-file', file])
  await assert.rejects(both, { code: 'invalid_options', message: /--store and --store-file/ })
  const twice = runProgram(['migrate'], { env: { ...env, HEADRACE_STORE: 'memory:' } })
  await assert.rejects(twice, { code: 'invalid_options', message: /HEADRACE_STORE and HEADRACE_STORE_FILE/ })
  const blank = runProgram(['migrate', '--store-file', join(folder, 'blank')])
  await assert.rejects(blank, { code: 'invalid_options', message: /blank holds nothing/ })
  const missing = runProgram(['doctor', '--store-file', join(folder, 'missing')])
  await assert.rejects(missing, { code: 'invalid_options', remedy: /address of the store and nothing else/ })
})
