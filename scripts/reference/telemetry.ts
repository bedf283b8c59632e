// docs/reference/telemetry.md. Types leave no trace at run time, so the interface is read as text.
import { readFileSync } from 'node:fs'
import { assert } from '../../src/errors.ts'
import { block, code, page, table } from './markdown.ts'

const source = new URL('../../src/telemetry.ts', import.meta.url)
const event =
  /\/\*\* (?<doc>[^*]+) \*\/\n {2}'(?<name>[a-z.-]+)': \{\s+(?<fields>(?:[^{}]|\{[^{}]*\})+?)\s+\}/g

const EXAMPLE = `
import { subscribe } from 'node:diagnostics_channel'

subscribe('headrace:ticks.moved', (message) => {
  const { topic, latenessMs } = message as { topic: string; latenessMs: number[] }
  console.log(topic, latenessMs.length)
})
`

export function writeTelemetryPage(): string {
  const text = readFileSync(source, 'utf8')
  const events = [...text.matchAll(event)].map(({ groups = {} }) => groups)
  assert(events.length === text.match(/^ {2}'[a-z.-]+':/gm)?.length, 'every event is documented')
  return page(
    'Telemetry',
    '`src/telemetry.ts`',
    'Every event is published on the channel `headrace:NAME` of `node:diagnostics_channel`, and costs next to ' +
      'nothing while nobody listens. Channels are global to a process, so each payload also carries `member`, the ' +
      'id of the `headrace()` it comes from. `race.telemetry.on(name, listener)` listens to one of them only, and is ' +
      'typed. Listeners are called synchronously: return quickly. Those of a SQLite store come a moment later, from its thread.',
    block('ts', EXAMPLE),
    table(
      ['event', 'when', 'payload'],
      events.map(({ name = '', doc = '', fields = '' }) => [code(name), doc, fieldsOf(fields, text)]),
    ),
  )
}

/** The payload with the names of types of the same file written out. */
function fieldsOf(fields: string, text: string): string {
  const aliases = [...text.matchAll(/^export type (\w+) = (['R][^\n]+)$/gm)]
  const written = aliases.reduce(
    (left, [, name = '', meaning = '']) => left.replaceAll(name, meaning),
    fields,
  )
  return written
    .split(/(?:;|\n)(?![^{]*\})/)
    .map((field) => code(field.trim()))
    .join(', ')
}
