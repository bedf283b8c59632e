// How results look: aligned columns without boxes, durations and counts for people on a terminal and raw in a
// pipe, one JSON document with --json. Results go to stdout, talk to stderr.
import { styleText } from 'node:util'
import type { CliContext, CliStream } from './context.ts'

export interface Look {
  json: boolean
  color: boolean
}

export interface Output {
  readonly json: boolean
  /** The result: the document with --json, else the text. */
  result(document: unknown, text: () => string): void
  /** One line of a result that comes bit by bit: JSON a line with --json. */
  line(document: unknown, text: () => string): void
  /** What a person wants to know and a program does not. */
  talk(text: string): void
  /** A count: `12 400` on a terminal, `12400` in a pipe. */
  count(value: number): string
  dim: (text: string) => string
  bold: (text: string) => string
}

export function createOutput({ stdout, stderr }: CliContext, look: Look): Output {
  const isTerminal = stdout.isTTY === true
  const styled = (style: 'dim' | 'bold', text: string): string =>
    look.color ? styleText(style, text, { validateStream: false }) : text
  return {
    json: look.json,
    result: (document, text) =>
      void stdout.write(`${look.json ? JSON.stringify(document, null, 2) : text()}\n`),
    line: (document, text) => void stdout.write(`${look.json ? JSON.stringify(document) : text()}\n`),
    talk: (text) => void stderr.write(`${text}\n`),
    count: (value) => (isTerminal ? groupDigits(value) : String(value)),
    dim: (text) => styled('dim', text),
    bold: (text) => styled('bold', text),
  }
}

/** Whether a stream gets colours: a terminal, unless NO_COLOR or --no-color says otherwise. */
export function hasColor(
  stream: CliStream,
  { env, asked }: { env: CliContext['env']; asked: boolean },
): boolean {
  if (!asked || (env['NO_COLOR'] ?? '') !== '') return false
  return stream.isTTY === true || (env['FORCE_COLOR'] ?? '') !== ''
}

export interface Column<Row> {
  title: string
  align?: 'right'
  text(row: Row): string
}

/** Rows under their titles, control characters escaped, each column as wide as its widest text; nothing is cut. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: (title: string) => string = (title) => title,
): string {
  const cells = rows.map((row) => columns.map((column) => escapeControls(column.text(row))))
  const widths = columns.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, row[index]?.length ?? 0), title.length),
  )
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => {
        const width = widths[index] ?? 0
        return columns[index]?.align === 'right' ? text.padStart(width) : text.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [style(line(columns.map(({ title }) => title))), ...cells.map(line)].join('\n')
}

/** Control characters (C0, DEL, C1) as JSON writes them: what others wrote must not steer a terminal. */
export function escapeControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => {
    const written = JSON.stringify(character).slice(1, -1)
    // JSON writes DEL and C1 as they are.
    return written === character ? `\\u00${character.charCodeAt(0).toString(16)}` : written
  })
}

/** Names and values, one a line, the values aligned. */
export function formatFields(fields: readonly (readonly [string, string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** `340ms`, `4.2s`, `3m12s`, `5h03m`, `7d`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))}s`
  if (ms < 3_600_000) return pair(ms / 1000, { size: 60, units: ['m', 's'] })
  if (ms < 86_400_000) return pair(ms / 60_000, { size: 60, units: ['h', 'm'] })
  return pair(ms / 3_600_000, { size: 24, units: ['d', 'h'] })
}

function pair(amount: number, { size, units }: { size: number; units: [string, string] }): string {
  const whole = Math.floor(amount)
  const rest = whole % size
  const first = `${Math.floor(whole / size)}${units[0]}`
  return rest === 0 ? first : `${first}${String(rest).padStart(2, '0')}${units[1]}`
}

/** `12 400`. */
export function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ' ')
}
