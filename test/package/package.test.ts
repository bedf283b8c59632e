// What a user gets: the files of the tarball, its types, and a server, on the newest and the oldest Node.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { blocksOf, outputUntil } from '../examples/run-example.ts'
import { PAGES, brokenLinks } from '../unit/broken-links.ts'
import { environmentOf, install, oldestNode, readManifest, root, run } from './install.ts'

const installed = await install()
const { folder, home, [Symbol.dispose]: remove } = installed
after(remove)
const oldest = await oldestNode(installed)

/** `.` and `./client` as they are imported: `headrace` and `headrace/client`. */
const entryPoints = Object.keys(readManifest(root).exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => path.replace(/^\./, 'headrace'))

const importAll = entryPoints.map((name, index) => `import * as entry${index} from '${name}'\n`).join('')

/** Nothing of a program that includes our types may be loosened for them. */
const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2023',
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  noEmit: true,
}

test('the tarball holds the build, its SQL and the texts, and nothing else', () => {
  const files = globSync('**/*.*', { cwd: home }).toSorted()
  const sql = globSync('**/*.sql', { cwd: join(root, 'src') })
  assert.ok(sql.length >= 4, 'queries and migrations are found')
  for (const file of sql) assert.ok(files.includes(join('dist', file)), `${file} is missing`)
  const pages = globSync(['docs/**/*.md', 'examples/**/*.{md,ts}'], { cwd: root })
  for (const file of pages) assert.ok(files.includes(file), `${file} is missing`)
  const outside = files.filter((file) => !/^dist\/.+(\.js|\.d\.ts|\.sql)$/.test(file))
  assert.deepEqual(outside, ['CHANGELOG.md', 'README.md', 'llms.txt', 'package.json', ...pages].toSorted())
  assert.deepEqual(
    files.filter((file) => /^dist\/.*test(ing)?\b|\.map$/.test(file)),
    [],
  )
  assert.match(readFileSync(join(home, 'LICENSE'), 'utf8'), /MIT/)
})

test('every link of the pages in the tarball leads to a file of the tarball', () => {
  const pages = globSync(PAGES, { cwd: home })
  assert.ok(pages.length > 20 && pages.includes('README.md') && pages.includes('llms.txt'))
  const broken = pages.flatMap((page) => brokenLinks(home, page).map((target) => `${page}: ${target}`))
  assert.deepEqual(broken, [])
})

test('no file of the tarball names a path of this machine or a source map', () => {
  const files = globSync('**/*.{js,ts,sql,json,md,txt}', { cwd: home })
  const leaking = files.filter((file) => {
    const text = readFileSync(join(home, file), 'utf8')
    return text.includes(root) || text.includes('sourceMappingURL')
  })
  assert.deepEqual(leaking, [])
})

test('every entry point has types that hold in the strictest program', async () => {
  const programs = [...blocksOf('README.md', 'ts'), ...blocksOf('llms.txt', 'ts')]
  assert.ok(programs.length >= 3)
  for (const [nth, program] of programs.entries()) writeFileSync(join(folder, `example-${nth}.ts`), program)
  const uses = entryPoints.map((_, index) => `export const use${index} = Object.keys(entry${index})\n`)
  writeFileSync(join(folder, 'imports.ts'), importAll + uses.join(''))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const errors = await run(process.execPath, [compiler, '-p', folder], folder).catch(printed)
  assert.equal(errors, '')
})

for (const [name, node] of [
  ['the Node of this repository', process.execPath],
  ['the oldest Node of engines', oldest],
] as const) {
  test(`every entry point can be imported by ${name}`, async () => {
    const counts = entryPoints.map((_, index) => `Object.keys(entry${index}).length`).join(', ')
    writeFileSync(join(folder, 'imports.js'), `${importAll}console.log(JSON.stringify([${counts}]))\n`)
    const exported: number[] = JSON.parse(await run(node, ['imports.js'], folder, node))
    assert.equal(exported.length, entryPoints.length)
    assert.ok(exported.every((count) => count > 0))
  })

  test(`the first program of README.md runs as it is printed on ${name}`, async () => {
    const [program = ''] = blocksOf('README.md', 'ts')
    const [expected = ''] = blocksOf('README.md', 'text')
    const cwd = join(folder, node === oldest ? 'oldest' : 'newest')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'jobs.mjs'), program)
    assert.equal(await outputUntil(expected, node, ['jobs.mjs'], { cwd }), expected)
  })

  test(`npx headrace serves ticks on ${name}`, async () => {
    const headrace = (...args: string[]): Promise<string> =>
      run('npx', ['--no-install', 'headrace', ...args], folder, node)
    const server = await serve(node)
    const body = JSON.stringify({ item: name, at: new Date().toISOString() })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/ticks`, { method: 'POST', headers, body })
    assert.equal(answer.status, 202)
    const flags = ['--follow', '--from', 'oldest', '--limit', '1', '--json', '--server', server.url]
    const event: { value: unknown } = JSON.parse(await headrace('topic', 'read', 'ticks', ...flags))
    assert.deepEqual(event.value, JSON.parse(body))
    assert.equal(await server.stop(), 0)
  })
}

/** The server of the installed package on a free port, over a store of its own. */
async function serve(node: string): Promise<{ url: string; stop(): Promise<unknown> }> {
  const store = `sqlite:./${node === oldest ? 'oldest' : 'newest'}.db`
  const args = ['serve', '--json', '--port', '0', '--store', store]
  const child = spawn(join(folder, 'node_modules/.bin/headrace'), args, {
    cwd: folder,
    env: environmentOf(node),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  after(() => void child.kill('SIGKILL'))
  const signal = AbortSignal.timeout(20_000)
  const [line] = await once(createInterface(child.stdout), 'line', { signal })
  const { url }: { url: string } = JSON.parse(String(line))
  const stop = async (): Promise<unknown> => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const [code] = await ended
    return code
  }
  return { url, stop }
}

/** What a failed command printed. */
function printed(error: unknown): string {
  return String((error as { stdout?: string }).stdout ?? error)
}
