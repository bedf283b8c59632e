// What a handler returned that is no outcome: whether it was meant as one. Pure. Rule [X11] of docs/spec/work.md.

const NAMES = ['done', 'again', 'retry', 'dead', 'cancel']
/** Where an outcome is named by hand, and what may stand beside it. */
const NAMING = ['kind', 'outcome']
const BESIDE = ['when', 'in', 'inMs', 'at', 'delay', 'reason', 'error']

/** A sentence that says what is wrong; null: it was meant for nobody, such as the row that an insert answered. */
export function mistakenFor(returned: unknown): string | null {
  const what = meantAs(returned)
  if (what === null) return null
  return `the handler returned ${what}, which is no outcome: return done(), again(…), retry(…), dead(…) or cancel(), or nothing`
}

function meantAs(returned: unknown): string | null {
  if (typeof returned === 'string') return `the text ${JSON.stringify(returned.slice(0, 64))}`
  if (typeof returned === 'function') return `the function ${returned.name.slice(0, 64) || 'without a name'}`
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned)) return null
  const names = Object.keys(returned)
  const isNamed = NAMING.some((name) => NAMES.includes(wordOf((returned as Record<string, unknown>)[name])))
  const isOnly = names.every((name) => [...NAMES, ...NAMING, ...BESIDE].includes(name))
  const isMeant = isNamed || (isOnly && names.some((name) => [...NAMES, ...NAMING].includes(name)))
  return isMeant ? `an object with ${names.slice(0, 8).join(', ')}` : null
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : ''
}
