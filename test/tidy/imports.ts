// Relative imports of a file, resolved to paths of the repository. Type imports count: they couple too.
import { posix } from 'node:path'
import type { File } from './rule.ts'
import { scan } from './scan.ts'

const beforeSpecifier = /(?:\bfrom|\bimport|\bimport\s*\()\s*$/

export function importsOf({ path, text }: File): string[] {
  const { code, literals } = scan(text)
  return literals
    .filter(({ value, index }) => value.startsWith('.') && beforeSpecifier.test(code.slice(0, index)))
    .map(({ value }) => posix.join(posix.dirname(path), value))
}

/** The first cycle found, as the list of files that leads back to its head, or undefined. */
export function findCycle(files: File[]): string[] | undefined {
  const graph = new Map(files.map((file) => [file.path, importsOf(file)]))
  const finished = new Set<string>()
  const visit = (path: string, trail: string[]): string[] | undefined => {
    const seenAt = trail.indexOf(path)
    if (seenAt >= 0) return [...trail.slice(seenAt), path]
    if (finished.has(path)) return undefined
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...trail, path])
      if (cycle !== undefined) return cycle
    }
    finished.add(path)
    return undefined
  }
  for (const path of graph.keys()) {
    const cycle = visit(path, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
