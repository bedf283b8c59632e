// The options of pools, topics and ticks as callers write them, and the settings that they become.
import { checkChoice, checkFlag, checkName, checkPartitions } from './check.ts'
import { checkOptions, optionTable } from './check-options.ts'
import { type Duration, toMs } from './duration.ts'
import { HeadraceError } from './errors.ts'
import type { TopicSettings } from './log/store.ts'
import { MODES, type Mode } from './pool/entry.ts'
import { KEPT_PAYLOADS, type KeptPayloads } from './pool/payloads.ts'
import type { PoolSettings } from './pool/store.ts'

/** Options of `race.pool`. */
export interface PoolOptions {
  partitions?: number
  mode?: Mode
  /** How long fired slots are remembered, in mode `each`; default: as stored with the pool. */
  remember?: Duration
  /** How long the records of deaths are kept; default: as stored with the pool, at first 30 days. */
  deadFor?: Duration
  /** Whether its runs put many others: its entries go in the lane `fanout`, before those of other lanes. Fixed at first use. */
  fansOut?: boolean
  /** The least time from the end of a run to the next run of its key, in mode `one`; default: as stored with the pool. */
  throttle?: Duration
  /** `all`: runs see the payload of every put that they stand for, in mode `one`. Fixed at first use. */
  payloads?: KeptPayloads
}

/** Options of `race.topic`. */
export interface TopicOptions {
  partitions?: number
  /** How long events are kept; default: the option `retention`, else as stored with the topic. */
  retention?: Duration
}

/** Options of `race.ticks`. */
export interface TicksOptions extends Omit<PoolOptions, 'payloads'> {
  /** The topic that due ticks move to; default: the name of the pool. */
  topic?: string
}

const POOL = {
  partitions: null,
  mode: null,
  remember: 'duration',
  deadFor: 'duration',
  fansOut: null,
  throttle: 'duration',
  payloads: null,
} as const
const POOL_OPTIONS = optionTable<PoolOptions>('a pool', POOL, {
  concurrency: 'name it where the pool is worked on: race.work(pool, handler, { concurrency })',
  retry: 'name it where the pool is worked on: race.work(pool, handler, { retry })',
  limits: 'set them with pool.limit({ … })',
})
const TOPIC_OPTIONS = optionTable<TopicOptions>('a topic', { partitions: null, retention: 'duration' })
const { payloads: _, ...TICKS } = POOL
const TICKS_OPTIONS = optionTable<TicksOptions>('ticks', { ...TICKS, topic: 'text' })

/** The options of ticks apart: those of their pool, and the topic. */
export function ticksOptions(options: TicksOptions): { topic: string | undefined; pool: PoolOptions } {
  checkOptions(options, TICKS_OPTIONS)
  const { topic, ...pool } = options
  return { topic, pool }
}

/** What is not said is as `known` has it: the pool of this name, or the defaults. */
export function poolSettings(
  name: string,
  options: PoolOptions,
  known: { mode?: Mode; partitions: number },
): PoolSettings {
  checkOptions(options, POOL_OPTIONS)
  const named = { name: `the mode of the pool ${name}`, code: 'invalid_options' } as const
  const mode = checkChoice(options.mode ?? known.mode ?? 'one', MODES, named)
  const kept = { name: `payloads of the pool ${name}`, code: 'invalid_options' } as const
  refuseInModeEach(name, options, mode)
  return {
    name: checkName(name, 'pool'),
    mode,
    partitions: checkPartitions(options.partitions ?? known.partitions, `the pool ${name}`),
    rememberMs: options.remember === undefined ? null : toMs(options.remember),
    deadForMs: options.deadFor === undefined ? null : toMs(options.deadFor),
    ...(options.fansOut === undefined
      ? {}
      : { fansOut: checkFlag(options.fansOut, `fansOut of the pool ${name}`) }),
    ...(options.payloads === undefined
      ? {}
      : { payloads: checkChoice(options.payloads, KEPT_PAYLOADS, kept) }),
    ...(options.throttle === undefined ? {} : { throttleMs: toMs(options.throttle) }),
  }
}

/** In mode `each` every put is a run of its own: there is nothing to put together. */
function refuseInModeEach(name: string, options: PoolOptions, mode: Mode): void {
  const what = options.throttle === undefined ? 'payloads: all' : 'a throttle'
  if (mode !== 'each' || (options.throttle === undefined && options.payloads !== 'all')) return
  throw new HeadraceError('invalid_options', `the pool ${name} has the mode each, and ${what}`, {
    remedy: 'leave it out, or use the mode one',
  })
}

export function topicSettings(
  name: string,
  options: TopicOptions,
  known: { partitions: number; retentionMs: number | null },
): TopicSettings {
  checkOptions(options, TOPIC_OPTIONS)
  return {
    name: checkName(name, 'topic'),
    partitions: checkPartitions(options.partitions ?? known.partitions, `the topic ${name}`),
    retentionMs: options.retention === undefined ? known.retentionMs : toMs(options.retention),
  }
}
