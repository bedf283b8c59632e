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
  /** The oldest Node that package.json promises. */
  oldestNode: string
}

export interface Manifest {
  exports: Record<string, unknown>
  engines: { node: string }
  bin: Record<string, string>
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

export async function install(): Promise<Installed> {
  const place = mkdtempSync(join(tmpdir(), 'headrace-package-'))
  const folder = join(place, 'user')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const [oldestNode] = await Promise.all([installOldestNode(place), installTarball(place, folder)])
  return {
    folder,
    home: join(folder, 'node_modules/headrace'),
    oldestNode,
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  }
}

async function installTarball(place: string, folder: string): Promise<void> {
  await run('npm', ['pack', '--ignore-scripts=false', '--pack-destination', place], root)
  const tarball = readdirSync(place).find((name) => name.endsWith('.tgz')) ?? 'no tarball'
  await add(folder, [join(place, tarball)])
}

async function installOldestNode(place: string): Promise<string> {
  const [, version] = /^>=(\d+\.\d+)$/.exec(readManifest(root).engines.node) ?? []
  const folder = join(place, 'oldest')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  await add(folder, [`node@${version}.0`])
  await run('npm', ['rebuild', 'node', '--ignore-scripts=false'], folder)
  return join(folder, 'node_modules/node/bin/node')
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
