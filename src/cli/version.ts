// The version of the package, read from its manifest: two folders up, in the sources and in the build.
import { readFileSync } from 'node:fs'

export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return (manifest as { version: string }).version
}
