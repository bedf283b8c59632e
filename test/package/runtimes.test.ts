// The package where it is not at home: a Node that is too old, the oldest TypeScript that reads its types, and Bun.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FLOOR } from '../../src/floor.ts'
import { blocksOf, outputUntil } from '../examples/run-example.ts'
import { startPostgres } from '../servers/postgres.ts'
import { NODE, install, nodeOf, readManifest, root, run } from './install.ts'

/** Exact, as all that tests rely on. */
const OLD_NODE = '20.19.0'
const OLD_TYPESCRIPT = '5.4.5'
const BUN = '1.4.4'
const bunPackage = `@oven/bun-${process.platform}-${process.arch === 'x64' ? 'x64-baseline' : 'aarch64'}`

const installed = await install(['pg@8.23.1', '@opentelemetry/api@1.9.1'])
const { folder, tool, [Symbol.dispose]: remove } = installed
after(remove)

const entryPoints = Object.keys(readManifest(root).exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => path.replace(/^\./, 'headrace'))

const sentence = `headrace needs Node ${FLOOR} or newer, and this is Node ${OLD_NODE}: install a newer one from https://nodejs.org\n`

/** What a command that fails printed, and its code. */
async function failed(command: Promise<string>): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const error = await command.then(
    (stdout) => ({ code: 0, stdout, stderr: '' }),
    (reason: unknown) => reason,
  )
  return error as { code: unknown; stdout: string; stderr: string }
}

test('a Node below the floor is refused by every entry point, imported or required, and by the command', async () => {
  const node = nodeOf(await tool(NODE, OLD_NODE))
  assert.equal(`>=${FLOOR}`, readManifest(root).engines.node)
  for (const name of entryPoints) {
    for (const load of [`import('${name}')`, `(async () => require('${name}'))()`]) {
      const program = `(${load}).catch((error) => console.log(error.message))`
      assert.equal(
        await run(node, ['--no-warnings', '--input-type=commonjs', '-e', program], folder, node),
        sentence,
        name,
      )
    }
  }
  const command = await failed(run(node, ['node_modules/.bin/headrace', 'status'], folder, node))
  assert.deepEqual([command.code, command.stderr], [1, sentence])
})

test(`the types of every entry point hold under TypeScript ${OLD_TYPESCRIPT} without skipLibCheck`, async () => {
  const compiler = join(await tool('typescript', OLD_TYPESCRIPT), 'bin/tsc')
  const imports = entryPoints.map((name, index) => `import * as entry${index} from '${name}'\n`)
  const uses = entryPoints.map((_, index) => `export const use${index} = Object.keys(entry${index})\n`)
  writeFileSync(join(folder, 'imports.ts'), [...imports, ...uses].join(''))
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    module: 'nodenext',
    target: 'es2022',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    noEmit: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['imports.ts'] }))
  const { code, stdout } = await failed(run(process.execPath, [compiler, '-p', folder], folder))
  assert.deepEqual([stdout, code], ['', 0])
})

test('the metrics of a race can be written for Prometheus with what the package exports', async () => {
  const program = `
    import { PROMETHEUS_TYPE, headrace, writePrometheus } from 'headrace'
    const race = await headrace({ store: 'memory:' })
    await race.start()
    console.log(PROMETHEUS_TYPE, writePrometheus(race.meter.metrics()))
    await race.stop()
  `
  const printed = await run(process.execPath, ['--input-type=module', '-e', program], folder)
  assert.match(printed, /^text\/plain; version=0\.0\.4.+\n# TYPE headrace_\w+ (counter|gauge|histogram)$/ms)
})

const SERVED = `
import { headrace } from 'headrace'
import { serve } from 'headrace/server'
const race = await headrace({ store: 'memory:' })
const seen = Promise.withResolvers()
race.work(race.pool('mails'), ({ key }) => seen.resolve(key))
await race.start()
const { url } = await serve(race, { port: 0 })
console.log((await fetch(url + '/healthy')).status)
await race.pool('mails').put('ann')
console.log(await seen.promise)
await race.stop()
console.log('stopped')
`

test('Bun runs the first example on the three stores, and stops a race that is served', async (t) => {
  const bun = join(await tool(bunPackage, BUN), 'bin/bun')
  const postgres = await startPostgres(15, { fsync: false })
  assert.ok(postgres !== null)
  t.after(() => postgres.remove())
  const [program = ''] = blocksOf('README.md', 'ts')
  const [prints = ''] = blocksOf('README.md', 'text')
  for (const store of ['memory:', 'sqlite:./bun.db', postgres.url()]) {
    writeFileSync(join(folder, 'first.ts'), program.replace(/store: '[^']+'/, `store: '${store}'`))
    assert.equal(await outputUntil(prints, bun, ['first.ts'], { cwd: folder }), prints, store)
  }
  writeFileSync(join(folder, 'served.mjs'), SERVED)
  assert.equal(await run(bun, ['served.mjs'], folder), '200\nann\nstopped\n')
})
