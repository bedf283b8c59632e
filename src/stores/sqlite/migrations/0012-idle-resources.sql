-- Resources that nobody serves, and the epochs of those that were removed. Shares that nobody collects are removed.
alter table resource add column idle_since integer;

insert into counter (name, next) values ('epoch-floor', 0);

create temp table unserved as
  select name from resource r
  where name like 'share/%'
    and not exists (select 1 from member m, json_each(m.serves) s where s.value = r.name);

update counter set next = (
  select coalesce(sum(epoch), 0) from allotment where resource in (select name from unserved)
)
where name = 'epoch-floor';

delete from allotment where resource in (select name from unserved);
delete from resource where name in (select name from unserved);
drop table unserved;
