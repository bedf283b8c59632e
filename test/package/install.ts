// Packs the tarball and installs it into an empty folder, as a user of the registry would.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

export const root = join(import.meta.dirname, '../..')
const withinMs = 120_000

export interface Installed extends Disposable {
  /** The folder that has headrace among its dependencies. */
  folder: string
  /** node_modules/headrace in it. */
  home: string
  /** Installs a package of the registry into a folder of its own, and answers its path. */
  tool(name: string, version: string): Promise<string>
}

export interface Manifest {
  exports: Record<string, unknown>
  engines: { node: string }
  bin: Record<string, string>
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The tarball, and packages next to it, in an empty folder. */
export async function install(packages: string[] = []): Promise<Installed> {
  const place = mkdtempSync(join(tmpdir(), 'headrace-package-'))
  const folder = join(place, 'user')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await installTarball(place, folder, packages)
  return {
    folder,
    home: join(folder, 'node_modules/headrace'),
    tool: (name, version) => installTool(place, name, version),
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  }
}

async function installTarball(place: string, folder: string, packages: string[]): Promise<void> {
  await run('npm', ['pack', '--ignore-scripts=false', '--pack-destination', place], root)
  const tarball = readdirSync(place).find((name) => name.endsWith('.tgz')) ?? 'no tarball'
  await add(folder, [join(place, tarball), ...packages])
}

/** The oldest Node that package.json promises. */
export async function oldestNode({ tool }: Installed): Promise<string> {
  const [, version] = /^>=(\d+\.\d+)$/.exec(readManifest(root).engines.node) ?? []
  return nodeOf(await tool(NODE, `${version}.0`))
}

/** The binary packages of Node have no install script. */
export const NODE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

export function nodeOf(tool: string): string {
  return join(tool, 'bin/node')
}

async function installTool(place: string, name: string, version: string): Promise<string> {
  const folder = join(place, `${name.replaceAll('/', '+')}@${version}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  await add(folder, [`${name}@${version}`])
  return join(folder, 'node_modules', name)
}

async function add(folder: string, packages: string[]): Promise<void> {
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', ...flags, ...packages], folder)
}

/** Runs a command with one Node first on the PATH; answers what it prints, rejects when it fails. */
export async function run(
  command: string,
  args: string[],
  cwd: string,
  node = process.execPath,
): Promise<string> {
  const options = { cwd, env: environmentOf(node), timeout: withinMs }
  return (await promisify(execFile)(command, args, options)).stdout
}

export function environmentOf(node: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}` }
}
