// What callers may ask of pools, topics and ticks, and the settings that come of it.
import { checkChoice, checkFlag, checkName, checkPartitions } from './check.ts'
import { type Duration, toMs } from './duration.ts'
import { HeadraceError } from './errors.ts'
import type { TopicSettings } from './log/store.ts'
import { MODES, type Mode } from './pool/entry.ts'
import { KEPT_PAYLOADS, type KeptPayloads } from './pool/payloads.ts'
import type { PoolSettings } from './pool/store.ts'

export interface PoolOptions {
  partitions?: number
  mode?: Mode
  /** How long fired slots are remembered, in mode `each`; unless said, as long as the store says. */
  remember?: Duration
  /** How long the records of deaths are kept; unless said, as long as the store says: at first 30 days. */
  deadFor?: Duration
  /** Whether its runs put many others: its entries go in the lane `fanout`, before those of other lanes. Fixed at first use. */
  fansOut?: boolean
  /** The least time from the end of a run to the next run of its key, in mode `one`; unless said, as the store says. */
  throttle?: Duration
  /** `all`: runs see the payload of every put that they stand for, in mode `one`. Fixed at first use. */
  payloads?: KeptPayloads
}

export interface TopicOptions {
  partitions?: number
  /** How long events are kept; unless said, what the option `retention` says, else the store. */
  retention?: Duration
}

export interface TicksOptions extends Omit<PoolOptions, 'payloads'> {
  /** The topic that due ticks move to; the pool's name unless said. */
  topic?: string
}

/** What is not said is as `known` has it: the pool of this name, or the defaults. */
export function poolSettings(
  name: string,
  options: PoolOptions,
  known: { mode?: Mode; partitions: number },
): PoolSettings {
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
  return {
    name: checkName(name, 'topic'),
    partitions: checkPartitions(options.partitions ?? known.partitions, `the topic ${name}`),
    retentionMs: options.retention === undefined ? known.retentionMs : toMs(options.retention),
  }
}
