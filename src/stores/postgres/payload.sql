-- Payloads of pools that keep them all. They change behind a put or a settle, in its transaction, which holds the locks of
-- the entries.

-- name: keep_payloads
-- Index: the primary key. Of each key: whether the payloads of its next run, and of the one after it, are dropped first. Then
-- what is added, in order.
with cleared as (
  delete from headrace.payload p using unnest($2::text[], $3::boolean[], $4::boolean[]) as c (key, next, after)
  where p.pool = $1::integer and p.key = c.key and case when p.after then c.after else c.next end
)
insert into headrace.payload (pool, after, key, payload)
select $1::integer, a.after, a.key, a.payload
from unnest($5::text[], $6::boolean[], string_to_array($7, e'\x1f')) with ordinality as a (key, after, payload, nth)
order by a.nth

-- name: weigh_payloads
-- Index: the primary key.
select key, count(*) as count, sum(octet_length(payload)) as bytes
from headrace.payload where pool = $1::integer and key = any ($2::text[]) group by key

-- name: settle_payloads
-- Index: the primary keys. Steps are those of a settle; $4: how many payloads each run saw.
with asked as (
  select * from unnest($2::text[], $3::integer[], $4::integer[], $5::boolean[]) as asked (key, step, seen, died)
),
seen as materialized (
  select a.key, p.id, p.payload
  from asked a cross join lateral (
    select p.id, p.payload from headrace.payload p
    where p.pool = $1::integer and p.key = a.key and not p.after order by p.id limit a.seen
  ) as p
),
noted as (
  update headrace.death d set payloads = array(select payload from seen where seen.key = a.key order by id)
  from asked a
  where a.died and d.pool = $1::integer and d.id = (
    select max(id) from headrace.death where pool = $1::integer and key = a.key
  )
),
gone as (
  delete from headrace.payload p using asked a
  where p.pool = $1::integer and p.key = a.key and (
    a.step = :settle.remove or a.step = :settle.rest or ((a.step = :settle.promote or a.step = :settle.again) and not p.after)
    or (a.step = :settle.repeat and p.id in (select id from seen where seen.key = a.key))
  )
)
update headrace.payload p set after = false from asked a
where p.pool = $1::integer and p.key = a.key and a.step = :settle.promote and p.after

-- name: forget_payloads
delete from headrace.payload where pool = $1::integer and key = $2
