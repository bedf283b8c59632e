// Metrics in the text format of Prometheus. Histograms are kept in milliseconds and written in seconds.
import { BOUNDS_MS, type Histogram } from './histogram.ts'
import type { Labels, Metric } from './metric.ts'

/** The content type of that text. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The metrics in the text format of Prometheus: `writePrometheus(race.meter.metrics())`. */
export function writePrometheus(metrics: Metric[]): string {
  return metrics.map(writeMetric).join('')
}

function writeMetric({ name, help, kind, series }: Metric): string {
  const lines = series.flatMap(({ labels, value }) => {
    return typeof value === 'number' ? [sample(name, labels, value)] : histogram(name, labels, value)
  })
  return `# HELP ${name} ${escape(help)}\n# TYPE ${name} ${kind}\n${lines.join('')}`
}

function histogram(name: string, labels: Labels, value: Histogram): string[] {
  let below = 0
  const buckets = BOUNDS_MS.map((bound, index) => {
    below += value.counts[index] ?? 0
    return sample(`${name}_bucket`, { ...labels, le: String(bound / 1000) }, below)
  })
  return [
    ...buckets,
    sample(`${name}_bucket`, { ...labels, le: '+Inf' }, value.count),
    sample(`${name}_sum`, labels, value.sum / 1000),
    sample(`${name}_count`, labels, value.count),
  ]
}

function sample(name: string, labels: Labels, value: number): string {
  const written = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`)
  return `${name}${written.length === 0 ? '' : `{${written.join(',')}}`} ${value}\n`
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}
