-- What is due.

-- name: due_runs
-- No query but a part of those that take. No lock. Index: entry_due, one range per partition p, from its $4 up to the end of
-- the page, or to now.
select e.key, e.slot, e.grp, e.turn, e.due_at, e.tally, e.payload, e.attempt, e.crashes, e.put_at, e.ctid as place
from headrace.entry e
where e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
  and e.due_at >= p.due_from and e.due_at <= (select due_to from clock)
order by e.due_at

-- name: run_columns
-- The runs of a partition in columns: a row for each takes the server as long as to find it, and the caller longer. Columns
-- that most runs have no use for name the turns of those that have. A payload too long for this is left out, and marked.
json_agg(key) as keys, array_agg(slot) filter (where slot <> $7::bigint) as slots, array_agg(turn) as turns,
array_agg(due_at) as due_ats, array_agg(tally) as tallies, array_agg(put_at) as put_ats, array_agg(place) as places,
string_agg(case when octet_length(payload) <= $8::integer then payload else '' end, e'\x1f') as payloads,
json_agg(json_build_array(turn, grp, attempt, crashes, octet_length(payload) > $8::integer))
  filter (where attempt > 0 or grp is not null or crashes is not null or octet_length(payload) > $8::integer) as rare

-- name: due_later
-- What is due next, if less is due than the limit, and all of it was read. Index: entry_due, one seek per partition.
later as materialized (
  select case when (select due_to = now from clock) and (select coalesce(sum(share), 0) from shares) < $5::bigint then (
    select min(e.due_at)
    from clock cross join unnest($2::smallint[]) as p (partition) cross join lateral (
      select e.due_at
      from headrace.entry e
      where e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
        and e.due_at > clock.now
      order by e.due_at
      limit 1
    ) as e
  ) end as next_due_at
)

-- name: due_shares
-- How many runs of each partition are among the first of all. No lock. Index: entry_due, one range per partition.
-- Only due times are read for that. Of each partition no more of them than $6; where that was not enough, since one of them
-- holds the most of what is due, the whole limit.
near as materialized (
  select p.partition, e.due_at
  from clock cross join unnest($2::smallint[], $4::bigint[]) as p (partition, due_from) cross join lateral (
    select e.due_at
    from headrace.entry e
    where e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
      and e.due_at >= p.due_from and e.due_at <= clock.due_to
    order by e.due_at
    limit $6::bigint
  ) as e
),
near_shares as materialized (
  select partition, count(*) as share, max(due_at) as last
  from (select partition, due_at from near order by due_at limit $5::bigint) as first
  group by partition
),
-- More of a partition may be due as early, if all that was read of it is among the first, and not as late as the last of all.
enough as materialized (
  select $6::bigint >= $5::bigint or not exists (
      select from near_shares where share >= $6::bigint and (last < edge.last or edge.count < $5::bigint)
    ) as is_enough
  from (select max(last) as last, sum(share) as count from near_shares) as edge
),
far_shares as materialized (
  select partition, count(*) as share
  from (
    select p.partition
    from clock cross join unnest($2::smallint[], $4::bigint[]) as p (partition, due_from) cross join lateral (
      select e.due_at
      from headrace.entry e
      where (select not is_enough from enough)
        and e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
        and e.due_at >= p.due_from and e.due_at <= clock.due_to
      order by e.due_at
      limit $5::bigint
    ) as e
    order by e.due_at
    limit $5::bigint
  ) as first
  group by partition
),
shares as materialized (
  select partition, share from near_shares where (select is_enough from enough)
  union all
  select partition, share from far_shares
),

-- name: take
-- The first of all.
with clock as materialized (
  select now, least(now, $9::bigint) as due_to from (select headrace.now_ms() as now) as clock
),
:due_shares
:due_later
select clock.now, later.next_due_at, due.*
from clock cross join later left join lateral (
  select p.partition, e.*
  from unnest($2::smallint[], $4::bigint[]) as p (partition, due_from) join shares s on s.partition = p.partition cross join lateral (
    select
      :run_columns
    from (
      :due_runs
      limit s.share
    ) as e
  ) as e
) as due on true

-- name: take_even
-- The first $6 of each partition, and what else is due at the time of the last of them, but at most $9; read once: where what
-- is due is spread evenly most of them are the first of all.
with clock as materialized (
  select now, least(now, $10::bigint) as due_to from (select headrace.now_ms() as now) as clock
),
due as materialized (
  select p.partition, e.*
  from unnest($2::smallint[], $4::bigint[]) as p (partition, due_from) cross join lateral (
    select count(*) as share,
      :run_columns
    from (
      select * from (
        :due_runs
        fetch first ($6::bigint) rows with ties
      ) as e
      limit $9::bigint
    ) as e
  ) as e
),
shares as (select partition, share from due),
:due_later
select clock.now, later.next_due_at, due.*
from clock cross join later left join due on due.share > 0

-- name: take_rows
-- A row for each run; where $7 is true with all its payloads, in the same snapshot. Index: the primary key of the payloads.
with clock as materialized (
  select now, least(now, $8::bigint) as due_to from (select headrace.now_ms() as now) as clock
),
:due_shares
:due_later
select clock.now, later.next_due_at, due.*
from clock cross join later left join lateral (
  select p.partition, e.*, case when $7::boolean then array(
      select a.payload from headrace.payload a where a.pool = $1 and a.key = e.key and not a.after order by a.id
    ) end as payloads
  from unnest($2::smallint[], $4::bigint[]) as p (partition, due_from) join shares s on s.partition = p.partition cross join lateral (
    :due_runs
    limit s.share
  ) as e
) as due on true

-- name: bound_page
-- The server ends a statement of this transaction after $1 milliseconds, or sooner where it ends every statement sooner.
select set_config('statement_timeout', least($1::integer, nullif(setting::integer, 0))::text, true)
from pg_catalog.pg_settings where name = 'statement_timeout'

-- name: due_page
-- The first due time of all lanes of some partitions, from $3 on and before $4. No lock. Index: entry_due, one range per
-- partition and lane.
select headrace.now_ms() as now, (
    select min(e.due_at)
    from unnest($2::smallint[]) as p (partition) cross join generate_series(0, :lane.last) as l (lane) cross join lateral (
      select e.due_at from headrace.entry e
      where e.pool = $1 and e.partition = p.partition and e.lane = l.lane::smallint and e.state = 'live'
        and e.due_at >= $3::bigint and ($4::bigint is null or e.due_at < $4::bigint)
      order by e.due_at
      limit 1
    ) as e
  ) as next_due_at
