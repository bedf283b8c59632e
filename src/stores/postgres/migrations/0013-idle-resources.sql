-- Resources that nobody serves, and the epochs of those that were removed. Shares that nobody collects are removed.
alter table headrace.resource add column idle_since bigint;

alter table headrace.roster add column epoch_floor bigint not null default 0;

with unserved as (
  delete from headrace.resource r
  where r.name like 'share/%' and not exists (select from headrace.member m where r.name = any (m.serves))
  returning r.name
),
removed as (
  delete from headrace.allotment a using unserved u where a.resource = u.name returning a.epoch
)
update headrace.roster set epoch_floor = (select coalesce(sum(epoch), 0) from removed) where id = 1;
