// A process: Fastify with the schema and the answer of POST /ticks and nothing behind them. It is as fast as a
// server of this kind can be here, so the share that Headrace reaches of it is what durability costs.
import Fastify from 'fastify'
import type { AddressInfo } from 'node:net'

const TEXT = { type: 'string' } as const

const BODY = {
  type: 'object',
  required: ['item', 'at'],
  properties: {
    item: { type: 'string', minLength: 1, maxLength: 512 },
    at: { type: 'string', format: 'date-time' },
    payload: {},
  },
} as const

const ANSWER = { type: 'object', properties: { item: TEXT, at: TEXT, result: TEXT } } as const

const app = Fastify({ logger: false, bodyLimit: 1024 * 1024 })
app.post('/ticks', { schema: { body: BODY, response: { 202: ANSWER } } }, (request, reply) => {
  const { item, at } = request.body as { item: string; at: string }
  reply.code(202).send({ item, at, result: 'created' })
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
process.once('SIGTERM', () => process.exit(0))
