// The public exports of `headrace`.
import './check-floor.ts'
export { type Duration } from './duration.ts'
export { ERROR_CODES, type ErrorCode, HeadraceError } from './errors.ts'
export { type Claim, type Held } from './fence.ts'
export { type PoolOptions, type TicksOptions, type TopicOptions } from './pool-options.ts'
export { Headrace, headrace } from './headrace.ts'
export { type Accepted } from './store.ts'
export { type AnyTransaction, type UserTransaction } from './tx.ts'
export { type EventView, type NewEventInput, type Topic } from './log/topic.ts'
export { type OptionsInput } from './options.ts'
export { type Moment } from './check.ts'
export { type Metric } from './meter/metric.ts'
export { PROMETHEUS_TYPE, writePrometheus } from './meter/prometheus.ts'
export { type Answer, type When, again, cancel, dead, done, retry } from './pool/answer.ts'
export { type ErrorLimits, type RetryLimits, type RetryOptions } from './pool/back-off.ts'
export {
  type Limit,
  type LimitOptions,
  type Limits,
  type LimitsOptions,
  type PauseOptions,
  type Rate,
  type RateOptions,
} from './pool/control.ts'
export { type EntryState, type Lane, type Mode, type OnConflict } from './pool/entry.ts'
export { type Dead, type DeadChoice, type DeadFilter, type DeadQuery, type DeadRun } from './pool/dead.ts'
export { type DeathKind } from './pool/death-kind.ts'
export { type EntryView } from './pool/entry-view.ts'
export { type Pool } from './pool/pool.ts'
export {
  type AddOptions,
  type PutOptions,
  type PutOutcome,
  type RescheduleOutcome,
  type TraceContext,
  type TxOptions,
} from './pool/put-options.ts'
export { type ListOptions } from './pool/list-options.ts'
export { type KeptPayloads } from './pool/payloads.ts'
export { type AbortCause, type Handler, type Run, RunAborted, type RunContext } from './pool/run.ts'
export { type Log } from './pool/run-log.ts'
export { type PausedView } from './pool/steering.ts'
export { type Tick, type Ticks } from './pool/ticks.ts'
export { type OnDoubt, type WorkOptions } from './pool/work-options.ts'
export { type Reason } from './pool/why.ts'
export { type Worker } from './pool/worker.ts'
export {
  type Division,
  type Filter,
  type FilteredObject,
  matchesFilter,
  printFilter,
} from './roster/filter.ts'
export { parseFilter } from './roster/parse-filter.ts'
export { type Lock, type LockOptions } from './roster/locks.ts'
export { type Ownership } from './roster/ownership.ts'
export { type LogLevel, type LogMethod, type Logger } from './report.ts'
export { type Roster } from './roster/roster.ts'
export { type Leader, type Resource, type RosterView } from './roster/store.ts'
export { type TelemetryEvents } from './telemetry.ts'
export { type WhyAnswer } from './why.ts'
