// Filters: which objects are a collector's, as a small tree, as text, and as a test of one object. Pure. The text is
// read by parse-filter.ts. Rules [Q1] to [Q3] of docs/spec/roster.md.
import { HeadraceError } from '../errors.ts'
import { partitionOf } from '../partition.ts'

export const DIVISIONS = ['id', 'hash'] as const

/** What the residue is of: a whole-number id itself, or the hash of an id that is any text. */
export type Division = (typeof DIVISIONS)[number]

/** All that is not null must hold. Lists are ascending, and name nothing twice. */
export interface Filter {
  /** The residue of the object, divided by `of`, is one of these. */
  mod: { of: number; residues: readonly number[] } | null
  /** From and to are included; null: no bound. */
  ids: { from: bigint | null; to: bigint | null } | null
  types: readonly string[] | null
  providers: readonly string[] | null
}

/** An object as a filter sees it. */
export interface FilteredObject {
  id: string | number | bigint
  type?: string
  provider?: string
}

/** The filter of some residues alone. */
export function residuesFilter(of: number, residues: Iterable<number>): Filter {
  const ascending = [...new Set(residues)].toSorted((a, b) => a - b)
  return { mod: { of, residues: ascending }, ids: null, types: null, providers: null }
}

/** The one text of a filter. [Q2] */
export function printFilter({ mod, ids, types, providers }: Filter): string {
  const clauses = [
    mod === null ? null : `${mod.of}%${printResidues(mod.residues)}`,
    ids === null ? null : `id:${ids.from ?? ''}-${ids.to ?? ''}`,
    types === null ? null : `type:${types.join(',')}`,
    providers === null ? null : `provider:${providers.join(',')}`,
  ]
  return clauses.filter((clause) => clause !== null).join(';')
}

/** Three or more in a row are a range. */
function printResidues(residues: readonly number[]): string {
  const runs: { from: number; to: number }[] = []
  for (const residue of residues) {
    const last = runs.at(-1)
    if (last !== undefined && residue === last.to + 1) last.to = residue
    else runs.push({ from: residue, to: residue })
  }
  return runs
    .map(({ from, to }) => (to - from >= 2 ? `${from}-${to}` : from === to ? `${from}` : `${from},${to}`))
    .join(',')
}

/** Whether an object is the filter's; refuses an id that cannot be divided or compared as the filter asks. [Q3] */
export function matchesFilter(filter: Filter, object: FilteredObject, by: Division): boolean {
  const { mod, ids, types, providers } = filter
  if (mod !== null && !mod.residues.includes(residueOf(object.id, mod.of, by))) return false
  if (ids !== null && !isWithin(ids, wholeNumber(object.id))) return false
  if (types !== null && (object.type === undefined || !types.includes(object.type))) return false
  return providers === null || (object.provider !== undefined && providers.includes(object.provider))
}

/** The residue of an id divided by `of`. [Q3] */
export function residueOf(id: FilteredObject['id'], of: number, by: Division): number {
  if (by === 'hash') return partitionOf(String(id), of)
  const rest = Number(wholeNumber(id) % BigInt(of))
  return rest < 0 ? rest + of : rest
}

function isWithin({ from, to }: { from: bigint | null; to: bigint | null }, id: bigint): boolean {
  return (from === null || id >= from) && (to === null || id <= to)
}

/** An id that is skipped in silence would be nobody's, so what is no whole number is refused. */
function wholeNumber(id: FilteredObject['id']): bigint {
  if (typeof id === 'bigint') return id
  if (typeof id === 'number' && Number.isSafeInteger(id)) return BigInt(id)
  if (typeof id === 'string' && /^-?\d{1,40}$/.test(id)) return BigInt(id)
  const text = JSON.stringify(String(id).slice(0, 64))
  throw new HeadraceError('invalid_input', `the id ${text} is no whole number`, {
    remedy: 'divide by hash, and leave the range of ids out',
  })
}
