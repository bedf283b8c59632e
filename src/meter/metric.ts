// What a metric is, whoever keeps it.
import type { Histogram } from './histogram.ts'

export type Labels = Readonly<Record<string, string>>

export interface Metric {
  name: string
  help: string
  kind: 'counter' | 'gauge' | 'histogram'
  series: { labels: Labels; value: number | Histogram }[]
}
