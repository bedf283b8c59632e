// Nothing that users run knows that it is simulated or tested: it is handed a clock, a store and a fault plan, and cannot
// tell whose they are. Comments may speak of it. The command line may start the lab, and is no part of what runs in it.
import { importsOf } from '../imports.ts'
import { isSource, lineOf, type File, type Rule } from '../rule.ts'
import { scan } from '../scan.ts'

const outside = /^src\/(?!lab\/|testing\/)/
const forbidden = /^src\/(lab|testing)\//
const word = /\w*simulat\w*|\bis(?:InTest|Test|Testing)\b|\bNODE_ENV\b|\bVirtualClock\b/gi

function check(file: File): string[] {
  const mayImport = (target: string): boolean =>
    !forbidden.test(target) || (file.path.startsWith('src/cli/') && target.startsWith('src/lab/'))
  const imports = importsOf(file).filter((target) => !mayImport(target))
  const { code, literals } = scan(file.text)
  const names = [...code.matchAll(word)].map(({ 0: name, index }) => ({ name, index }))
  const texts = literals.flatMap(({ value, index }) =>
    [...value.matchAll(word)].map(({ 0: name }) => ({ name, index })),
  )
  return [
    ...imports.map((target) => `must not import ${target}`),
    ...[...names, ...texts].map(({ name, index }) => `line ${lineOf(file.text, index)}: ${name}`),
  ]
}

const pool = (text: string): File => ({ path: 'src/pool/taker.ts', text })

const unaware: Rule = {
  title: 'nothing in src outside lab and testing knows that it is simulated or tested',
  appliesTo: (path) => outside.test(path) && isSource(path),
  check,
  bad: [
    pool("import { World } from '../lab/simulation/world.ts'"),
    pool("import type { VirtualTime } from '../testing/virtual-clock.ts'"),
    pool("const { simulate } = await import('../lab/a.ts')"),
    pool('if (isSimulated) return'),
    pool('const simulation = clock.pending > 0'),
    pool("if (process.env['NODE_ENV'] === 'test') return"),
    pool("if (process.env.NODE_ENV === 'test') return"),
    pool('if (clock instanceof VirtualClock) return'),
    { path: 'src/cli/lab.ts', text: "import { openPool } from '../testing/pool-driver.ts'" },
  ],
  good: [
    pool('// the simulator stops it here\nfaults.at(point)'),
    { path: 'src/cli/lab.ts', text: "import { run } from '../lab/scenario.ts'" },
  ],
}

export const unawareRules = [unaware]
