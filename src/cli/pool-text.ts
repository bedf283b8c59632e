// How pools and their entries look, for people.
import type { EntryView, LimitView, PoolDetail } from '../client/client.ts'
import {
  type Column,
  type Output,
  escapeControls,
  formatDuration,
  formatFields,
  formatTable,
} from './output.ts'

/** Says that there are more pools than are listed, if there are. */
export function sayListed(listed: number, total: number, output: Output): void {
  if (total > listed)
    output.talk(`these are the first ${output.count(listed)} of ${output.count(total)} pools`)
}

/** A line for each pool; what is not set for any of them has no column. */
export function formatPools(pools: readonly PoolDetail[], output: Output): string {
  if (pools.length === 0) return 'no pools'
  const set: Column<PoolDetail>[] = [
    { title: 'paused', text: ({ paused }) => (paused === null ? '' : pauseOf(paused)) },
    { title: 'limits', text: ({ limits }) => limitsOf(limits, output) },
    {
      title: 'throttle',
      align: 'right',
      text: ({ throttleMs }) => (throttleMs === 0 ? '' : formatDuration(throttleMs)),
    },
    { title: 'fans out', text: ({ fansOut }) => (fansOut ? 'yes' : '') },
    { title: 'payloads', text: ({ payloads }) => (payloads === 'latest' ? '' : payloads) },
  ]
  const columns: Column<PoolDetail>[] = [
    { title: 'pool', text: ({ name }) => name },
    { title: 'mode', text: ({ mode }) => mode },
    { title: 'partitions', align: 'right', text: ({ partitions }) => String(partitions) },
    { title: 'dead for', align: 'right', text: ({ deadForMs }) => formatDuration(deadForMs) },
    ...set.filter((column) => pools.some((pool) => column.text(pool) !== '')),
  ]
  return formatTable(columns, pools, output.dim)
}

function pauseOf({ by, since, until }: NonNullable<PoolDetail['paused']>): string {
  const who = by === null ? [] : [`by ${by}`]
  const end = until === null ? [] : [`until ${until}`]
  return ['yes', ...who, `since ${since}`, ...end].join(' ')
}

/** Such as `pool 40 50/1s, group 5`. */
function limitsOf({ pool, group }: PoolDetail['limits'], output: Output): string {
  const write = (of: string, { concurrency, rate }: LimitView): string[] => {
    const parts = [
      ...(concurrency === null ? [] : [output.count(concurrency)]),
      ...(rate === null ? [] : [`${output.count(rate.count)}/${formatDuration(rate.perMs)}`]),
      ...(rate?.spread === true ? ['spread'] : []),
    ]
    return parts.length === 0 ? [] : [`${of} ${parts.join(' ')}`]
  }
  return [...write('pool', pool), ...write('group', group)].join(', ')
}

export function formatEntries(entries: readonly EntryView[], output: Output): string {
  if (entries.length === 0) return 'no entries'
  const columns: Column<EntryView>[] = [
    { title: 'key', text: ({ key }) => key },
    ...(entries.some(({ at }) => at !== null)
      ? [{ title: 'at', text: ({ at }: EntryView) => at ?? '-' }]
      : []),
    { title: 'due at', text: ({ dueAt }) => dueAt },
    { title: 'state', text: ({ state }) => state },
    { title: 'tally', align: 'right', text: ({ tally }) => output.count(tally) },
    { title: 'attempt', align: 'right', text: ({ attempt }) => String(attempt) },
    { title: 'lane', text: ({ lane }) => lane },
    ...(entries.some(({ key, group }) => group !== key)
      ? [{ title: 'group', text: ({ group }: EntryView) => group }]
      : []),
    { title: 'partition', align: 'right', text: ({ partition }) => String(partition) },
    { title: 'payload', text: ({ payload }) => (payload === undefined ? '' : JSON.stringify(payload)) },
  ]
  return formatTable(columns, entries, output.dim)
}

/** All that is known of one entry, a field a line. */
export function formatEntry(entry: EntryView, output: Output): string {
  const { after, progress, progressAt, payload } = entry
  const fields: [string, string | null][] = [
    ['key', entry.key],
    ['at', entry.at],
    ['state', entry.state],
    ['due at', entry.dueAt],
    ['tally', output.count(entry.tally)],
    ['attempt', String(entry.attempt)],
    ['failing', entry.failing ? 'its last run was given up' : null],
    ['last error', entry.lastError === null ? null : shortError(entry.lastError)],
    ['lane', entry.lane],
    ['group', entry.group],
    ['partition', String(entry.partition)],
    ['put at', entry.putAt],
    ['first put', entry.enqueuedAt],
    ['payload', payload === undefined ? null : JSON.stringify(payload)],
    ['after it', after === null ? null : runOf(after, output)],
    ['progress', progress === undefined ? null : `${JSON.stringify(progress)}  ${progressAt}`],
  ]
  return formatFields(
    fields.flatMap(([name, text]) => (text === null ? [] : [[name, escapeControls(text)] as const])),
  )
}

/** An error and its causes in a line; the rest is where they were thrown, which --json shows. */
export function shortError(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  return [first, ...rest.filter((line) => /^(caused by|one of its errors): /.test(line))].join('; ')
}

function runOf({ dueAt, tally, payload }: NonNullable<EntryView['after']>, output: Output): string {
  const rest = payload === undefined ? '' : `  ${JSON.stringify(payload)}`
  return `due at ${dueAt}  tally ${output.count(tally)}${rest}`
}

/** One line of an entry that is followed. */
export function formatChange(entry: EntryView, output: Output): string {
  const { state, dueAt, tally, attempt, progress } = entry
  const told = progress === undefined ? '' : `  progress ${JSON.stringify(progress)}`
  const run = `${state}  ${dueAt}  tally ${output.count(tally)}  attempt ${attempt}`
  return escapeControls(`${run}${told}`)
}
