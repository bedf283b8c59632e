// The public exports of `headrace`.
export { type Duration } from './duration.ts'
export { ERROR_CODES, type ErrorCode, HeadraceError } from './errors.ts'
export { type Claim, type Held } from './fence.ts'
export { Headrace, type PoolOptions, type TicksOptions, type TopicOptions, headrace } from './headrace.ts'
export { type EventView, type NewEventInput, type Topic } from './log/topic.ts'
export { type OptionsInput } from './options.ts'
export { type Moment } from './check.ts'
export { type EntryState, type Lane, type Mode, type OnConflict } from './pool/entry.ts'
export { type EntryView, type Pool, type PutOptions, type PutOutcome } from './pool/pool.ts'
export { type Tick, type Ticks } from './pool/ticks.ts'
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
export { type Roster } from './roster/roster.ts'
export { type Leader, type Resource, type RosterView } from './roster/store.ts'
export { type TelemetryEvents } from './telemetry.ts'
