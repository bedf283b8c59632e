-- Looking at entries. A slot that has fired is no entry. $3 to $5 of the listings: where the previous page ended; then
-- due times in [$6, $7), and the limit.

-- name: get
select * from headrace.entry where pool = $1 and key = $2 and slot = $3 and state <> 'fired'

-- name: listed
-- No query but a part: what a listing of some keys keeps of them. $9: the state; $10: now; $11: the group.
(due_at, key, slot) > ($3::bigint, $4::text collate "C", $5::bigint)
and due_at >= $6::bigint and due_at < $7::bigint and state <> 'fired'
and case $9::text
  when 'dead' then state = 'dead'
  when 'due' then state = 'live' and due_at <= $10::bigint
  when 'waiting' then state = 'live' and due_at > $10::bigint and attempt = 0
  when 'backing-off' then state = 'live' and due_at > $10::bigint and attempt > 0
  else true
end
and ($11::text is null or coalesce(grp, key) = $11::text)
order by due_at, key, slot
limit $8::bigint

-- name: list_key
-- Index: the primary key.
select * from headrace.entry
where pool = $1 and key = $2 and
  :listed

-- name: list_prefix
-- Index: the primary key, from the prefix to $12; all of them are sorted.
select * from headrace.entry
where pool = $1 and key >= $2 and ($12::text is null or key < $12::text) and
  :listed

-- name: list_group
-- Index: entry_due, the partition of the group; entry_dead. What is found is sorted.
select * from (
  select * from headrace.entry where pool = $1 and partition = $2::smallint and lane between 0 and :lane.last and state = 'live'
  union all
  select * from headrace.entry where pool = $1 and state = 'dead'
) as e
where
  :listed

-- name: list_live
-- Index: entry_due, one range per partition and lane; what is due at one moment is sorted.
select e.*
from generate_series(0, $2::integer - 1) as p (partition) cross join generate_series(0, :lane.last) as l (lane)
  cross join lateral (
    select * from headrace.entry e
    where e.pool = $1 and e.partition = p.partition::smallint and e.lane = l.lane::smallint and e.state = 'live'
      and e.due_at >= greatest($6::bigint, $3::bigint) and e.due_at < $7::bigint
      and (e.due_at, e.key, e.slot) > ($3::bigint, $4::text collate "C", $5::bigint)
      and ($9::boolean is null or (e.attempt > 0) = $9::boolean)
    order by e.due_at, e.key, e.slot
    limit $8::bigint
  ) as e
order by e.due_at, e.key, e.slot
limit $8::bigint

-- name: list_failing
-- Index: entry_failing.
select * from headrace.entry
where pool = $1 and state = 'live' and attempt > 0 and due_at >= $6::bigint and due_at < $7::bigint
  and (due_at, key, slot) > ($3::bigint, $4::text collate "C", $5::bigint) and $2::integer > 0
order by due_at, key, slot
limit $8::bigint

-- name: list_dead
-- Index: entry_dead.
select * from headrace.entry
where pool = $1 and state = 'dead' and due_at >= $6::bigint and due_at < $7::bigint
  and (due_at, key, slot) > ($3::bigint, $4::text collate "C", $5::bigint) and $2::integer > 0
order by due_at, key, slot
limit $8::bigint

-- name: count
select
  count(*) filter (where state = 'live' and due_at > now and attempt = 0) as waiting,
  count(*) filter (where state = 'live' and due_at <= now) as due,
  count(*) filter (where state = 'live' and due_at > now and attempt > 0) as backing_off,
  count(*) filter (where state = 'dead') as dead
from headrace.entry cross join (select headrace.now_ms() as now) as clock
where pool = $1 and state <> 'fired'

-- name: deaths
select key, slot, grp, payload, seen, reason, error, died_at, payloads
from headrace.death where pool = $1 order by id desc limit $2::bigint
