// docs/reference/api*.md: every public export of every entry point, with its doc comment and its signature, from the
// declarations that tsc emits. TypeScript 7 has no compiler API; the formatter brings the declarations into one form, in which
// each statement begins at the first column, so that reading them takes no parser.
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { block, page, table } from './markdown.ts'

const root = join(import.meta.dirname, '../..')

/** One declaration of a module; a function with overloads is several. */
interface Declaration {
  name: string
  kind: 'function' | 'class' | 'const' | 'interface' | 'type'
  doc: string
  code: string
  /** Not exported by the entry point: its exported types are made of it. */
  isPart?: boolean
}

/** A name that a module exports from another one. */
interface Forwarded {
  /** null: all that the other module exports. */
  name: string | null
  original: string
  from: string
}

interface Exported extends Declaration {
  /** Types of its module that it is made of; shown even if the entry point does not export them. */
  parts: Declaration[]
}

interface Module {
  declarations: Declaration[]
  exported: Set<string>
  forwarded: Forwarded[]
}

const KINDS = ['function', 'class', 'const', 'interface', 'type'] as const

/** File name → text. */
export function writeApiPages(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-api-'))
  try {
    emitDeclarations(folder)
    const entries = entryPoints().map(({ name, source }) => ({ name, exported: readEntry(folder, source) }))
    const hidden = declaredTypes(folder)
    for (const { exported } of entries) for (const { name } of exported) hidden.delete(name)
    return Object.fromEntries(entries.map((entry) => [pageOf(entry.name), writePage(entry, entries, hidden)]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function emitDeclarations(folder: string): void {
  const tool = (path: string, args: string[]): void => {
    execFileSync(process.execPath, [join(root, 'node_modules', path), ...args], { cwd: root, stdio: 'pipe' })
  }
  tool('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', folder])
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    // tsc breaks every object type; those of one field are easier to read on one line.
    const text = readFileSync(join(folder, file), 'utf8')
    writeFileSync(join(folder, file), text.replaceAll(/\{\n\s+([^\n{};]+);\n\s+\}/g, '{ $1 }'))
  }
  tool('oxfmt/bin/oxfmt', ['-c', '.oxfmtrc.json', folder])
}

/** The names of all types of the package, exported by it or not. */
function declaredTypes(folder: string): Set<string> {
  const texts = globSync('**/*.d.ts', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'))
  const names = texts.flatMap((text) => text.match(/(?<=^[a-z ]*(?:class|interface|type) )\w+/gm) ?? [])
  return new Set(names)
}

/** As package.json names them: `headrace` of `index.ts`, `headrace/client` of `client/client.ts`, and so on. */
function entryPoints(): { name: string; source: string }[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { 'headrace-source': string }>
  }
  return Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [{ name: path.replace(/^\./, 'headrace'), source: target['headrace-source'].replace('./src/', '') }],
  )
}

const pageOf = (entry: string): string => `${entry.replace(/^headrace/, 'api').replace('/', '-')}.md`

/** Every export of an entry point, by the name that it has there, and what its types are made of. */
function readEntry(folder: string, source: string): Declaration[] {
  const modules = new Map<string, Module>()
  const moduleOf = (path: string): Module => {
    const known = modules.get(path) ?? readModule(readFileSync(join(folder, path), 'utf8'))
    modules.set(path, known)
    return known
  }
  const exportsOf = (path: string): Exported[] => {
    const module = moduleOf(path)
    const exported = module.declarations.filter(({ name }) => module.exported.has(name))
    const own = exported.map((one) => ({ ...one, parts: partsOf(one, module.declarations) }))
    const others = module.forwarded.flatMap(({ name, original, from }) => {
      const all = exportsOf(posix.join(posix.dirname(path), from))
      if (name === null) return all
      const found = all.filter((declaration) => declaration.name === original)
      if (found.length === 0)
        throw new Error(`reference: ${path} exports ${original}, which ${from} does not`)
      return found.map((declaration) => ({ ...declaration, name }))
    })
    return [...own, ...others]
  }
  const all = exportsOf(source.replace(/\.ts$/, '.d.ts'))
  const names = new Set(all.map(({ name }) => name))
  const parts = new Set(all.flatMap((one) => one.parts).filter(({ name }) => !names.has(name)))
  return [...all, ...[...parts].map((part) => ({ ...part, isPart: true }))]
}

/** An alias says nothing without the interface that it adds to or picks from. */
function partsOf({ kind, code }: Declaration, declarations: readonly Declaration[]): Declaration[] {
  if (kind !== 'type') return []
  return declarations.filter(
    (other) => other.kind === 'interface' && new RegExp(`\\b${other.name}\\b`).test(code),
  )
}

/** A formatted declaration file: a line that begins with a letter or a comment begins a statement. */
function readModule(text: string): Module {
  const module: Module = { declarations: [], exported: new Set(), forwarded: [] }
  let doc = ''
  for (const statement of text.trimEnd().split(/\n(?=[a-z/])/)) {
    if (statement.startsWith('/')) doc = statement
    else {
      readStatement(module, statement, doc)
      doc = ''
    }
  }
  return module
}

const DECLARATION =
  /^(?<isExported>export )?(?:declare )?(?:abstract )?(?<kind>function|class|const|interface|type) (?<name>\w+)/
const FORWARD = /^export (?:type )?(?:\{(?<names>[^}]*)\}|\*) from '(?<from>[^']+)'$/

function readStatement(module: Module, code: string, doc: string): void {
  if (code.startsWith('import ') || code === 'export {}') return
  const forward = FORWARD.exec(code)?.groups
  if (forward !== undefined) {
    const from = (forward['from'] ?? '').replace(/\.ts$/, '.d.ts')
    const names = forward['names']?.split(',').map((name) => name.trim().replace(/^type /, ''))
    for (const name of names?.filter((text) => text !== '') ?? [null]) {
      const [original = '', renamed = original] = name?.split(' as ') ?? []
      module.forwarded.push({ name: name === null ? null : renamed, original, from })
    }
    return
  }
  const { kind, name, isExported } = DECLARATION.exec(code)?.groups ?? {}
  if (kind === undefined || name === undefined) throw new Error(`reference: cannot read ${code}`)
  if (isExported !== undefined) module.exported.add(name)
  module.declarations.push({ name, kind: kind as Declaration['kind'], doc: proseOf(doc), code })
}

/** The text of a doc comment, as paragraphs. */
function proseOf(comment: string): string {
  return comment
    .replace(/^\/\*\*\s*|\s*\*\/$/g, '')
    .replaceAll(/\n \* ?/g, '\n')
    .trim()
}

/** These have a page of their own. */
const ELSEWHERE: Record<string, string> = {
  ERROR_CODES: 'Every code, its meaning and its HTTP status: [errors](errors.md).',
  TelemetryEvents: 'Every event and its payload: [telemetry](telemetry.md).',
}

interface Entry {
  name: string
  exported: Declaration[]
}

function writePage({ name, exported }: Entry, entries: Entry[], hidden: Set<string>): string {
  const sorted = KINDS.flatMap((kind) =>
    exported.filter((one) => one.kind === kind).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  )
  const anchors = new Map(sorted.map((one) => [one.name, anchorOf(one)]))
  const index = KINDS.flatMap((kind) => {
    const links = linksTo(sorted.filter((one) => one.kind === kind && one.isPart !== true))
    return links === '' ? [] : [[PLURALS[kind], links]]
  })
  const parts = linksTo(sorted.filter(({ isPart }) => isPart === true))
  if (parts !== '') index.push(['not exported, but parts of types', parts])
  const others = entries.filter((entry) => entry.name !== name)
  return page(
    `API: ${name}`,
    'the declarations that `tsc` emits from `src`',
    `What \`import … from '${name}'\` gives. The other entry points: ` +
      `${others.map((other) => `[\`${other.name}\`](${pageOf(other.name)})`).join(', ')}.`,
    table(['', 'exports'], index),
    ...sorted.map((one, nth) => writeDeclaration(one, sorted[nth - 1], { anchors, hidden })),
  )
}

function linksTo(declarations: readonly Declaration[]): string {
  const links = new Set(declarations.map((one) => `[${one.name}](#${anchorOf(one)})`))
  return [...links].join(', ')
}

const PLURALS = {
  function: 'functions',
  class: 'classes',
  const: 'constants',
  interface: 'interfaces',
  type: 'types',
} as const

const anchorOf = ({ kind, name }: Declaration): string => `${kind}-${name.toLowerCase()}`

function writeDeclaration(
  one: Declaration,
  before: Declaration | undefined,
  { anchors, hidden }: { anchors: Map<string, string>; hidden: Set<string> },
): string {
  const isOverload = before !== undefined && anchorOf(before) === anchorOf(one)
  const elsewhere = ELSEWHERE[one.name]
  const code = elsewhere === undefined ? withoutInternals(one.code, hidden) : `${one.code.split('\n')[0]} … }`
  const mentioned = [...new Set(code.replaceAll(/\/\*[^]*?\*\//g, '').match(/\b[A-Z]\w+/g))].filter(
    (name) => name !== one.name && anchors.has(name),
  )
  const uses = mentioned.map((name) => `[${name}](#${anchors.get(name) ?? ''})`).join(', ')
  return [
    isOverload ? '' : `## ${one.kind} ${one.name}`,
    one.doc,
    elsewhere ?? '',
    block('ts', code.replaceAll(/^export (declare )?/g, '')),
    uses === '' ? '' : `Uses: ${uses}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

const MEMBER =
  /^ {2}(?:\/\*\*(?<doc>(?:(?!\*\/)[^])*)\*\/\n {2})?(?<text>\S[^\n]*(?:\n(?: {3,}| {2}[\])}])[^\n]*)*)\n/gm

/** Without members that are private or marked `@internal`, and without constructors, except those of errors. */
function withoutInternals(code: string, hidden: Set<string>): string {
  const isError = code.includes(' extends Error')
  return code.replaceAll(MEMBER, (whole: string, doc: string | undefined, text: string) => {
    if (/^(#private|private |protected )/.test(text)) return ''
    if (text.startsWith('constructor(') && !isError) return ''
    if (doc?.includes('@internal') === true) return ''
    if (!code.includes('class ')) return whole
    return requiredTypes(text).some((name) => hidden.has(name)) ? '' : whole
  })
}

/** The names of types in the parameters that a caller cannot leave out: nobody else can call what takes a hidden one. */
function requiredTypes(member: string): string[] {
  const [, list = ''] = /^\w+(?:<[^(]*>)?\(([^]*)\)/.exec(member) ?? []
  const parameters = list.split(/,\s+(?=[\w.{]+\??[^,]*:)/)
  const required = parameters.filter((text) => !/^\s*(\.\.\.|\w+\?:)/.test(text))
  return required.flatMap((text) => text.match(/\b[A-Z]\w+/g) ?? [])
}
