// What package.json, package-lock.json, .oxlintrc.json and the decisions must agree on, as pure functions.
import type { File } from './rule.ts'

export interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export interface Lock {
  packages: Record<string, { optionalDependencies?: Record<string, string>; resolved?: string }>
}

export function inexactVersions(manifest: Manifest): string[] {
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
  return Object.entries(all)
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} ${version}`)
}

/** A decision is about a dependency when its heading names it. */
export function undecidedDependencies(manifest: Manifest, files: File[]): string[] {
  const headings = files
    .filter(({ path }) => /^docs\/decisions\/\d{4}-[a-z0-9-]+\.md$/.test(path))
    .map(({ text }) => ` ${text.split('\n', 1)[0]?.toLowerCase()} `)
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  return names.filter((name) => !headings.some((heading) => heading.split(/[\s,.:`]+/).includes(name)))
}

export function incompleteDecisions(files: File[]): string[] {
  const decisions = files.filter(({ path }) => path.startsWith('docs/decisions/'))
  return decisions.flatMap(({ path, text }, index) => {
    const number = String(index + 1).padStart(4, '0')
    const missing = ['Status', 'Context', 'Decision', 'Consequences'].filter(
      (part) => !text.includes(`## ${part}\n`),
    )
    return [
      ...(path.startsWith(`docs/decisions/${number}-`) ? [] : [`${path}: number ${number} expected`]),
      ...missing.map((part) => `${path}: no part "${part}"`),
      ...(text.split('\n').length > 60 ? [`${path}: longer than a screen`] : []),
    ]
  })
}

export function resolvedPackages(lock: Lock): string[] {
  return Object.keys(lock.packages).filter((name) => lock.packages[name]?.resolved !== undefined)
}

/** npm ci refuses a lock file that names an optional package of another platform without an entry for it. */
export function absentOptionalPackages(lock: Lock): string[] {
  return Object.values(lock.packages)
    .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
    .filter((name) => !(`node_modules/${name}` in lock.packages))
}
