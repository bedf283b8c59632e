// Entries that were removed and that an old snapshot keeps: in the table and in its indexes, and read by nobody.
import type { PostgresServer } from './postgres.ts'

export interface DeadEntries {
  schema: string
  pool: string
  partitions: number
  count: number
  /** They were due in so many milliseconds, which ended twenty seconds ago. */
  withinMs: number
}

/** How many rows one transaction writes and removes. */
const AT_ONCE = 400_000

/** No worker ever sees them: each transaction removes what it wrote. A snapshot that is open before keeps them. */
export async function makeDead(
  server: PostgresServer,
  { schema, pool, partitions, count, withinMs }: DeadEntries,
  progress: (text: string) => void = () => undefined,
): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const to = Math.min(from + AT_ONCE, count)
    await server.run(`
      do $$
      declare
        block bigint := pg_relation_size('${schema}.entry') / current_setting('block_size')::integer;
      begin
        insert into ${schema}.entry (turn, slot, due_at, enqueued_at, put_at, pool, tally, attempt, note, key_hash, partition,
          lane, failing, state, key)
        select nextval('${schema}.turn'), ${Number.MIN_SAFE_INTEGER}, at, at, at, p.id, 1, 0, 0, 0, nth % ${partitions}, 1,
          false, 'live', 'gone-' || nth
        from generate_series(${from}, ${to - 1}) as nth cross join ${schema}.pool p cross join lateral (
            select ${schema}.now_ms() - 20000 - ${withinMs} + (nth::bigint * ${withinMs} / ${count}) as at
          ) as due
        where p.name = '${pool}';
        delete from ${schema}.entry
        where ctid >= ('(' || greatest(block - 1, 0) || ',0)')::tid and key like 'gone-%';
      end $$`)
    progress(`${to} of ${count} removed entries`)
  }
}
