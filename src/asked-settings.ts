// What callers may ask of pools, topics and ticks, and the settings that come of it.
import { checkChoice, checkFlag, checkName, checkPartitions } from './check.ts'
import { type Duration, toMs } from './duration.ts'
import type { TopicSettings } from './log/store.ts'
import { MODES, type Mode } from './pool/entry.ts'
import type { PoolSettings } from './pool/store.ts'

export interface PoolOptions {
  partitions?: number
  mode?: Mode
  /** How long fired slots are remembered, in mode `each`; unless said, as long as the store says. */
  remember?: Duration
  /** Whether its runs put many others: its entries go in the lane `fanout`, before those of other lanes. Fixed at first use. */
  fansOut?: boolean
}

export interface TopicOptions {
  partitions?: number
  /** How long events are kept; unless said, what the option `retention` says, else the store. */
  retention?: Duration
}

export interface TicksOptions extends PoolOptions {
  /** The topic that due ticks move to; the pool's name unless said. */
  topic?: string
}

/** What is not said is as `known` has it: the pool of this name, or the defaults. */
export function poolSettings(
  name: string,
  options: PoolOptions,
  known: { mode?: Mode; partitions: number },
): PoolSettings {
  const mode = { name: `the mode of the pool ${name}`, code: 'invalid_options' } as const
  return {
    name: checkName(name, 'pool'),
    mode: checkChoice(options.mode ?? known.mode ?? 'one', MODES, mode),
    partitions: checkPartitions(options.partitions ?? known.partitions, `the pool ${name}`),
    rememberMs: options.remember === undefined ? null : toMs(options.remember),
    ...(options.fansOut === undefined
      ? {}
      : { fansOut: checkFlag(options.fansOut, `fansOut of the pool ${name}`) }),
  }
}

export function topicSettings(
  name: string,
  options: TopicOptions,
  known: { partitions: number; retentionMs: number | null },
): TopicSettings {
  return {
    name: checkName(name, 'topic'),
    partitions: checkPartitions(options.partitions ?? known.partitions, `the topic ${name}`),
    retentionMs: options.retention === undefined ? known.retentionMs : toMs(options.retention),
  }
}
