-- Which life of the server, and which history of the store, the schema is in. A store goes back when a lagging replica is
-- promoted, or a backup is started or restored: then what was answered since is gone, and its numbers would be given again.

-- How often a member has beaten: one that finds a lower count than it was answered knows that the store went back.
alter table headrace.member add column beats bigint not null default 0;

-- One row. It is current if it was written under this start of the server, by the transaction that it names (a restored or
-- copied row was not), and no sequence was set back since. `life` changes with every start of the server, `generation`
-- only when the store went back. No turn of this life is below `first_turn`, and no new token or version below `least`;
-- no new epoch is below `least_epoch`. The foreign key is the last thing that a dump restores.
create table headrace.generation (
  id integer primary key default 1 check (id = 1) references headrace.roster (id),
  life text not null,
  generation text not null,
  started_at timestamptz not null,
  timeline text,
  xid bigint not null,
  first_turn bigint not null,
  least bigint not null,
  least_epoch bigint not null
);

-- Null where the server does not say, which then has no replicas that lag.
create function headrace.timeline() returns text language plpgsql volatile as $$
begin
  return left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
exception when feature_not_supported or insufficient_privilege then return null;
end $$;

insert into headrace.generation (life, generation, started_at, timeline, xid, first_turn, least, least_epoch)
values (gen_random_uuid(), gen_random_uuid(), pg_postmaster_start_time(), headrace.timeline(),
  pg_current_xact_id()::text::bigint % 4294967296, 0, 0, 0);

-- Undoes a statement of another life than the current one.
create function headrace.in_life(asked text) returns boolean language plpgsql stable as $$
begin
  perform from headrace.generation g cross join headrace.turn t
  where g.life = asked and g.started_at = pg_postmaster_start_time() and g.xmin::text::bigint = g.xid
    and t.last_value >= g.first_turn;
  if not found then
    raise exception 'the store is in another life than %', asked using errcode = 'HR001';
  end if;
  return true;
end $$;

create function headrace.in_time(life text, ms integer, done bigint) returns boolean language plpgsql volatile as $$
begin
  if clock_timestamp() - transaction_timestamp() > ms * interval '1 millisecond' then
    raise exception 'the transaction took longer than % ms', ms using errcode = 'query_canceled';
  end if;
  return headrace.in_life(life);
end $$;

-- Of processes that do not know of lives.
create or replace function headrace.in_time(ms integer, done bigint) returns boolean language plpgsql volatile as $$
begin
  return headrace.in_time((select life from headrace.generation), ms, done);
end $$;

-- Begins a life if the row is not current, and a generation too if the store went back, or if that is proved by a caller
-- that names the generation which it doubts. Every number that somebody may know from a history that is gone leaps.
create function headrace.renew(doubted text) returns setof headrace.generation language plpgsql volatile as $$
declare
  stands headrace.generation;
  written_by bigint;
  turn bigint;
  us bigint := floor(extract(epoch from clock_timestamp()) * 1000000);
  ms bigint := us / 1000;
  deaths regclass := pg_get_serial_sequence('headrace.death', 'id');
  now_timeline text;
  is_current boolean;
  went_back boolean;
begin
  perform set_config('lock_timeout', '900ms', true);
  select g.* into stands from headrace.generation g for update;
  if not found or not exists (
    select from pg_catalog.pg_constraint where conrelid = 'headrace.generation'::regclass and contype = 'f'
  ) then
    raise exception 'the schema is being restored' using errcode = 'HR002';
  end if;
  -- Under the lock: another may have renewed it while this one waited.
  turn := (select last_value from headrace.turn);
  written_by := (select g.xmin::text::bigint from headrace.generation g);
  is_current := stands.started_at = pg_postmaster_start_time() and stands.xid = written_by and turn >= stands.first_turn;
  if is_current and doubted is distinct from stands.generation then
    return next stands;
    return;
  end if;
  now_timeline := headrace.timeline();
  went_back := doubted is not distinct from stands.generation or stands.xid <> written_by or turn < stands.first_turn
    or stands.timeline is distinct from now_timeline;
  if went_back then
    update headrace.lease set expires_at = 0, term = greatest(term + 1, ms);
    delete from headrace.member;
    update headrace.fence set epoch = greatest(epoch + 1, ms), owner = '', concurrency = 0, suspects = 0;
    -- What a share answers is a sum of epochs: the floor below it leaps, once, and not each of a thousand residues. [Q7]
    update headrace.allotment set next = null,
      epoch = case when starts_with(resource, 'share/') then epoch + 1 else greatest(epoch + 1, ms) end;
    update headrace.roster set epoch_floor = greatest(epoch_floor + 1, ms);
    stands.generation := gen_random_uuid();
    stands.least_epoch := ms;
  end if;
  update headrace.roster set version = greatest(version + 1, ms);
  stands.life := gen_random_uuid();
  stands.first_turn := setval('headrace.turn', greatest(turn + 1, us));
  stands.least := us;
  perform setval('headrace.noun_id', (select last_value + 1000 from headrace.noun_id)),
    setval(deaths, greatest(coalesce(pg_sequence_last_value(deaths), 0) + 1, ms));
  update headrace.generation set life = stands.life, generation = stands.generation, started_at = pg_postmaster_start_time(),
    timeline = now_timeline, xid = pg_current_xact_id()::text::bigint % 4294967296, first_turn = stands.first_turn,
    least = stands.least, least_epoch = stands.least_epoch;
  return next stands;
end $$;
