// The meter's numbers, for Prometheus and as JSON.
import type { FastifyInstance } from 'fastify'
import { Histogram } from '../meter/histogram.ts'
import { PROMETHEUS_TYPE, writePrometheus } from '../meter/prometheus.ts'
import type { RouteDoc, ServerContext } from './route.ts'
import { METRICS } from './schemas.ts'

const TEXT: RouteDoc = {
  summary: 'Every metric, in the text format of Prometheus.',
  answer: { 'text/plain': { type: 'string' } },
}
const JSON_DOC: RouteDoc = { summary: 'Every metric.', answer: { 'application/json': METRICS } }

export function addMetrics(app: FastifyInstance, { race }: ServerContext): void {
  app.get('/metrics', { config: { doc: TEXT } }, async (_request, reply) => {
    reply.header('content-type', PROMETHEUS_TYPE)
    return writePrometheus(race.meter.metrics())
  })
  app.get('/v1/metrics', { config: { doc: JSON_DOC } }, async () => {
    const metrics = race.meter.metrics().map((metric) => ({
      ...metric,
      series: metric.series.map(({ labels, value }) => ({ labels, ...numbersOf(value) })),
    }))
    return { metrics }
  })
}

/** A number, or the quantiles of a histogram in milliseconds. */
function numbersOf(value: number | Histogram): Record<string, number> {
  if (typeof value === 'number') return { value }
  return {
    count: value.count,
    sumMs: value.sum,
    maxMs: value.max,
    p50Ms: value.quantile(0.5),
    p90Ms: value.quantile(0.9),
    p99Ms: value.quantile(0.99),
  }
}
