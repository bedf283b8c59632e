// What a handler threw, as a text that every store can keep: the error, its causes, and what an AggregateError holds. Pure.
// Rule [X15] of docs/spec/work.md.

/** Longer ones are cut: they are kept with every death and every entry that backs off. */
const LONGEST_ERROR = 4000
/** Of each cause: so many that they all fit, and leave room for the error itself. */
const LONGEST_CAUSE = 400
const MOST_CAUSES = 6
/** Causes of causes go no deeper: they may go round. */
const DEEPEST = 5

/** Whatever it is: what cannot be described must not stop the worker. */
export function describeError(thrown: unknown): string {
  const causes: string[] = []
  addCauses(thrown, causes, 1)
  const tail = causes.join('')
  return tellable(`${cut(textOf(thrown), LONGEST_ERROR - tail.length)}${tail}`)
}

/** As a text that every store can keep: well-formed, without NUL, and not too long. */
export function tellable(text: string): string {
  return cut(text, LONGEST_ERROR).toWellFormed().replaceAll('\0', '\uFFFD')
}

function addCauses(thrown: unknown, causes: string[], depth: number): void {
  if (depth > DEEPEST) return
  for (const { label, error } of causesOf(thrown)) {
    if (causes.length === MOST_CAUSES) return
    causes.push(`\n${label}: ${cut(textOf(error), LONGEST_CAUSE - label.length - 4)}`)
    addCauses(error, causes, depth + 1)
  }
}

function causesOf(thrown: unknown): { label: string; error: unknown }[] {
  try {
    if (!(thrown instanceof Error)) return []
    const held: unknown[] =
      thrown instanceof AggregateError && Array.isArray(thrown.errors)
        ? thrown.errors.slice(0, MOST_CAUSES)
        : []
    return [
      ...(thrown.cause === undefined || thrown.cause === null
        ? []
        : [{ label: 'caused by', error: thrown.cause }]),
      ...held.map((error) => ({ label: 'one of its errors', error })),
    ]
  } catch {
    return []
  }
}

function textOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown)
    const { stack }: { stack?: unknown } = thrown
    return withCode(typeof stack === 'string' ? stack : `${thrown.name}: ${thrown.message}`, thrown)
  } catch {
    return `something of type ${typeof thrown} that cannot be written`
  }
}

/** Errors of the system say what happened by their code, and not always in their message. */
function withCode(text: string, error: Error): string {
  const code = 'code' in error ? error.code : undefined
  if (typeof code !== 'string' || code === '' || code.length > 64) return text
  const [line = ''] = text.slice(0, LONGEST_ERROR).split('\n', 1)
  return line.includes(code) ? text : `${line} [${code}]${text.slice(line.length)}`
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
