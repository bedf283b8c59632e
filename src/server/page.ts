// A plain page at `/`: what runs, how much of it, and where to go. No script; everything shown is escaped.
import type { FastifyInstance } from 'fastify'
import { createHash } from 'node:crypto'
import { READ_ERRORS, type RouteDoc, type ServerContext } from './route.ts'
import { type Status, readStatus } from './status.ts'

const DOC: RouteDoc = {
  summary: 'This server, as a page to read.',
  answer: { 'text/html': { type: 'string' } },
  errors: READ_ERRORS,
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0}td,th{text-align:left;padding:.2rem 1.5rem .2rem 0}
td:last-child{font-variant-numeric:tabular-nums}pre{background:#8882;padding:.8rem;overflow:auto}
:root{color-scheme:light dark}`

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const LINKS = [
  '/v1/status',
  '/v1/ticks',
  '/v1/pools',
  '/v1/topics',
  '/v1/roster',
  '/v1/verdict',
  '/v1/doctor',
  '/v1/meter',
  '/v1/metrics',
  '/metrics',
  '/readyz',
  '/openapi.json',
]

export function addPage(app: FastifyInstance, context: ServerContext): void {
  app.get('/', { config: { doc: DOC } }, async (request, reply) => {
    reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
    })
    return writePage(await readStatus(context), request.host)
  })
}

function writePage(status: Status, host: string): string {
  const topics = status.topics.map(({ name, events }) => [String(name), String(events)])
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Headrace</title><style>${STYLE}</style></head><body>
<h1>Headrace ${escape(status.version)}</h1>
<p>Member ${escape(status.roster.name)} (${escape(status.member)}) on <code>${escape(status.store)}</code>, up for ${Math.round(status.uptimeMs / 1000)} s.</p>
<h2>Ticks</h2>${writeTicks(status.ticks)}
<h2>Topics</h2>${table(topics)}
<h2>Services</h2>${table(status.services.map(({ name, state }) => [name, state]))}
<h2>Try it</h2>
<pre>curl -X POST http://${escape(host)}/ticks -d '{"item":"user1234","at":"2027-02-28T14:16:00Z"}'</pre>
<p>${LINKS.map((link) => `<a href="${link}">${link}</a>`).join(' · ')}</p>
</body></html>
`
}

function writeTicks(ticks: Status['ticks']): string {
  if (ticks === null) return '<p>None.</p>'
  const { mode, partitions, counts } = ticks
  const rows = Object.entries(counts).map(([state, count]) => [state, String(count)])
  return `<p>Mode ${escape(mode)}, ${partitions} partitions.</p>\n${table(rows)}`
}

function table(rows: string[][]): string {
  const cells = rows.map((row) => `<tr>${row.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`)
  return `<table>${cells.join('')}</table>`
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
