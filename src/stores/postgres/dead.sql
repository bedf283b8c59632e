-- What was given up: the records of deaths, and the entries that are dead.

-- name: page_of_deaths
-- With the entry as it is now. Index: death_by_time, backwards from the cursor on; of one key death_by_key, and a sort of
-- its deaths; the primary key of the entries.
select d.*, e.state, e.failing
from (
  select id, key, slot, grp, seen, reason, error, died_at from headrace.death
  where pool = $1 and ($2::text is null or key = $2::text) and (died_at, id) < ($3::bigint, $4::bigint)
    and died_at >= $5::bigint
  order by died_at desc, id desc limit $6::bigint
) as d left join lateral (
  select e.state, e.failing from headrace.entry e
  where e.pool = $1 and e.key = d.key and e.slot = d.slot and e.state <> 'fired'
  limit 1
) as e on true
order by d.died_at desc, d.id desc

-- name: payloads_of_deaths
-- Index: the primary key.
select id, payload, payloads from headrace.death where pool = $1 and id = any ($2::bigint[])

-- name: redrive
-- Locks: the entries, by (key, slot). Index: the primary keys, and death_by_key.
with named as materialized (
  select d.key, d.slot
  from headrace.death d
  where d.pool = $1 and d.id = any ($2::bigint[]) and not exists (
    select from headrace.death later
    where later.pool = $1 and later.key = d.key and later.slot = d.slot and later.id > d.id
  )
),
found as materialized (
  select e.key, e.slot
  from (select set_config('lock_timeout', '4500ms', true)) as bound
    cross join (select * from named order by key collate "C", slot) as n
    cross join lateral (
      select e.key, e.slot from headrace.entry e
      where e.pool = $1 and e.key = n.key and e.slot = n.slot and e.state = 'dead'
      for update
    ) as e
),
clock as materialized (select headrace.now_ms() as now from (select count(*) from found) as locked),
redriven as (
  update headrace.entry e
  set state = 'live', due_at = clock.now, attempt = 0, crashes = null, turn = nextval('headrace.turn')
  from found f cross join clock
  where e.pool = $1 and e.key = f.key and e.slot = f.slot
  returning 1
)
select clock.now, (select count(*) from redriven) as redriven from clock
where headrace.in_time(5000, (select count(*) from redriven))

-- name: remove_deaths
-- Locks: the entries that go, by (key, slot), and the records. Index: the primary keys, and death_by_key.
with bound as materialized (select set_config('lock_timeout', '4500ms', true)),
named as materialized (
  select d.id, d.key, d.slot from bound cross join headrace.death d
  where d.pool = $1 and d.id = any ($2::bigint[])
),
last as materialized (
  select e.key, e.slot
  from (select distinct key, slot from named order by key, slot) as n cross join lateral (
    select e.key, e.slot from headrace.entry e
    where e.pool = $1 and e.key = n.key and e.slot = n.slot and e.state = 'dead' and not exists (
      select from headrace.death d
      where d.pool = $1 and d.key = n.key and d.slot = n.slot and d.id <> all ($2::bigint[])
    )
    for update
  ) as e
),
gone as (
  delete from headrace.death d using named n where d.pool = $1 and d.id = n.id returning 1
),
buried as (
  delete from headrace.entry e using last l where e.pool = $1 and e.key = l.key and e.slot = l.slot returning 1
),
emptied as (
  delete from headrace.payload p using last l where p.pool = $1 and p.key = l.key
)
select (select count(*) from gone) as deaths, (select count(*) from buried) as entries where headrace.in_life(':life')

-- name: old_deaths
-- Up to $1 records that were kept for long enough, the oldest of each pool. Index: death_by_time.
select d.pool, p.name, d.id
from headrace.pool p cross join lateral (
  select d.pool, d.id from headrace.death d
  where d.pool = p.id and d.died_at <= (select headrace.now_ms()) - p.dead_for_ms
  order by d.died_at, d.id limit $1::bigint
) as d
order by d.pool limit $1::bigint
