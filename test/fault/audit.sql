-- The witness of ownership: tables and triggers that a test installs beside the product's own, and what is asked of them.
-- A fact gets its number while the row of the fence is locked, so the numbers of one partition are in the order in which
-- its raises and fenced writes excluded each other.

-- name: install
create schema witness;
create sequence witness.fact;
create table witness.raise (
  id bigint primary key, at double precision not null, resource text not null, partition integer not null,
  epoch bigint not null, owner text not null
);
-- One row per fenced statement. Of every claimed partition: whether the fence was the claim's, and the rows written.
create table witness.claim (
  id bigint primary key, at double precision not null, resource text not null, owner text not null,
  partitions integer[] not null, epochs bigint[] not null, equal boolean[] not null, written bigint[] not null,
  -- Rows that were written in partitions that were not claimed.
  strays bigint not null
);
create index on witness.claim (at);

create function witness.note_raise() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.epoch = new.epoch and old.owner = new.owner then return null; end if;
  insert into witness.raise
  values (nextval('witness.fact'), extract(epoch from clock_timestamp()) * 1000, new.resource, new.partition, new.epoch,
    new.owner);
  return null;
end $$;
create trigger witness_raise after insert or update on headrace.fence
  for each row execute function witness.note_raise();

create function witness.note_claim() returns trigger language plpgsql as $$
declare
  said jsonb := nullif(current_setting('headrace_audit.claim', true), '')::jsonb;
begin
  -- Every fenced statement has a part that deletes; what updates is noted only where something was updated.
  if said is null or (tg_op = 'UPDATE' and not exists (select from touched)) then return null; end if;
  insert into witness.claim
  select nextval('witness.fact'), extract(epoch from clock_timestamp()) * 1000, said ->> 'resource', said ->> 'owner',
    array_agg(c.partition order by c.nth), array_agg(c.epoch order by c.nth),
    array_agg(f.partition is not null order by c.nth), array_agg(coalesce(t.count, 0) order by c.nth),
    (select count(*) from touched) - sum(coalesce(t.count, 0))
  from (
      select p.value::integer as partition, e.value::bigint as epoch, p.nth
      from jsonb_array_elements_text(said -> 'partitions') with ordinality as p (value, nth)
        join jsonb_array_elements_text(said -> 'epochs') with ordinality as e (value, nth) using (nth)
    ) as c
    left join headrace.fence f on f.resource = said ->> 'resource' and f.partition = c.partition and f.epoch = c.epoch
      and f.owner = said ->> 'owner'
    left join (select partition, count(*) from touched group by partition) as t on t.partition = c.partition;
  return null;
end $$;
create trigger witness_removed after delete on headrace.entry
  referencing old table as touched for each statement execute function witness.note_claim();
create trigger witness_folded after delete on headrace.arrival
  referencing old table as touched for each statement execute function witness.note_claim();
create trigger witness_changed after update on headrace.entry
  referencing old table as touched for each statement execute function witness.note_claim();

-- name: verdict
-- A claim is accepted in a partition when its fence was equal, or when something was written there all the same. It must
-- lie between the raise of its own (epoch, owner) and the next raise.
with raise as (
  select *, lag(epoch) over of_partition as previous, lead(id) over of_partition as next
  from witness.raise window of_partition as (partition by resource, partition order by id)
),
part as (
  select c.id, c.resource, c.owner, p.partition, p.epoch, p.equal, p.written
  from witness.claim c cross join lateral unnest(c.partitions, c.epochs, c.equal, c.written)
    as p (partition, epoch, equal, written)
),
judged as (
  select p.*, r.id is not null and p.id > r.id and (r.next is null or p.id < r.next) as in_its_time
  from part p left join raise r using (resource, partition, epoch, owner)
)
select (select count(*) from raise) as raises,
  (select count(*) from raise where previous >= epoch) as raises_back,
  count(*) filter (where equal) as accepted,
  count(*) filter (where equal and written > 0) as wrote,
  count(*) filter (where not equal) as refused,
  count(*) filter (where written > 0 and not equal) as stale_writes,
  count(*) filter (where (equal or written > 0) and not in_its_time) as out_of_time,
  (select coalesce(sum(strays), 0) from witness.claim) as strays
from judged

-- name: taken_over
-- Of every partition that $1 held at the time $2, in ms: how long it took to the first accepted claim of a later epoch,
-- counted from the time $2, or with $3 from the last accepted claim of $1 after it. Null: there was none.
with held as (
  select distinct on (resource, partition) resource, partition, epoch, owner
  from witness.raise where at <= $2::float8 order by resource, partition, id desc
),
part as materialized (
  select c.at, c.resource, c.owner, p.partition, p.epoch
  from witness.claim c cross join lateral unnest(c.partitions, c.epochs, c.equal) as p (partition, epoch, equal)
  where c.at > $2::float8 and c.at < $2::float8 + 30000 and p.equal
)
select h.partition,
  (select min(p.at) from part p where p.resource = h.resource and p.partition = h.partition and p.epoch > h.epoch)
  - greatest($2::float8, (
    select max(p.at) from part p
    where $3::boolean and p.resource = h.resource and p.partition = h.partition and p.owner = $1
  )) as took_ms
from held h where h.owner = $1 order by h.partition
