// scripts/setup.mjs in a folder of its own, with an npm of the test's own: which Node binary it accepts.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../../..')
const platform = `${process.platform}-${process.arch}`
/** What npm installs in place of Node; it leaves a trace when it is run. */
const BINARY = '#!/bin/sh\ntouch "$(dirname "$0")/ran"\necho v1.2.3\n'
const HASH = createHash('sha256').update(BINARY).digest('hex')

interface Ended {
  status: number | null
  said: string
  /** Whether the binary is there, and whether it was run. */
  isThere: boolean
  ran: boolean
}

/** Sets a folder up that records these hashes of version 1.2.3. */
function setUpWith(hashes: Record<string, string>): Ended {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-setup-'))
  try {
    for (const name of ['scripts', 'bin']) mkdirSync(join(folder, name))
    cpSync(join(root, 'scripts/setup.mjs'), join(folder, 'scripts/setup.mjs'))
    writeFileSync(join(folder, 'scripts/node-hashes.json'), JSON.stringify({ '1.2.3': hashes }))
    writeFileSync(join(folder, 'package.json'), '{"devDependencies": {"node": "1.2.3"}}')
    writeFileSync(join(folder, 'package-lock.json'), '{}')
    writeFileSync(join(folder, 'binary'), BINARY)
    const installs =
      'mkdir -p node_modules/node/bin && cp binary node_modules/node/bin/node && chmod +x node_modules/node/bin/node'
    writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\n${installs}\n`)
    chmodSync(join(folder, 'bin/npm'), 0o755)
    const { npm_execpath: _script, ...env } = process.env
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/setup.mjs')], {
      env: { ...env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
      encoding: 'utf8',
    })
    const [isThere, ran] = ['node', 'ran'].map((name) =>
      existsSync(join(folder, 'node_modules/node/bin', name)),
    )
    return { status, said: stderr, isThere: isThere === true, ran: ran === true }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('set-up runs the Node binary whose hash is recorded, and does not speak of it', () => {
  const { said, ...ended } = setUpWith({ [platform]: HASH })
  assert.deepEqual(ended, { status: 0, isThere: true, ran: true })
  assert.doesNotMatch(said, /checked|hash/)
})

test('set-up removes a Node binary with another hash than the recorded one, and never runs it', () => {
  const { said, ...ended } = setUpWith({
    [platform]: HASH.replace(/./, (first) => (first === '0' ? '1' : '0')),
  })
  assert.deepEqual(ended, { status: 1, isThere: false, ran: false })
  assert.match(said, /the Node binary that npm installed is not the one of .*node-hashes\.json/)
})

test('where no hash is recorded for the platform, set-up says in a line that the binary was not checked', () => {
  const { said, ...ended } = setUpWith({ 'other-x64': HASH })
  assert.deepEqual(ended, { status: 0, isThere: true, ran: true })
  assert.equal(said.split('\n').filter((line) => line.includes('was not checked')).length, 1)
})

test('the hash of the Node that package.json names is recorded for linux-x64', () => {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'))
  const { devDependencies } = read('package.json') as { devDependencies: Record<string, string> }
  const hashes = read('scripts/node-hashes.json') as Record<string, Record<string, string>>
  const recorded = hashes[devDependencies['node'] as string]?.['linux-x64']
  assert.match(recorded ?? 'none', /^[0-9a-f]{64}$/)
  if (platform !== 'linux-x64') return
  assert.equal(createHash('sha256').update(readFileSync(process.execPath)).digest('hex'), recorded)
})
