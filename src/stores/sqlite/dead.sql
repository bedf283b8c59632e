-- What was given up: the records of deaths, and the entries that are dead.

-- name: add_death
-- The number is the new turn of its entry, which is never given again.
insert into death (id, pool, key, slot, payload, seen, reason, error, died_at, payloads, grp)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: list_deaths
-- Index death_by_pool, backwards.
select key, slot, grp, payload, seen, reason, error, died_at, payloads from death where pool = ? order by id desc limit ?

-- name: page_of_deaths
-- Index death_by_time, backwards, from the cursor on.
select id, key, slot, grp, seen, reason, error, died_at from death
where pool = ? and (died_at, id) < (?, ?) and died_at >= ?
order by died_at desc, id desc limit ?

-- name: page_of_deaths_of_key
-- Index death_by_key, backwards, from the cursor on.
select id, key, slot, grp, seen, reason, error, died_at from death
where pool = ? and key = ? and (died_at, id) < (?, ?) and died_at >= ?
order by died_at desc, id desc limit ?

-- name: find_death
select key, slot, payload, payloads from death where id = ? and pool = ?

-- name: died_since
-- Index death_by_key, covering.
select 1 from death where pool = ? and key = ? and slot = ? and id > ? limit 1

-- name: remove_death
delete from death where id = ? and pool = ? returning key, slot

-- name: remove_dead_entry
-- Indexes entry_by_key, and death_by_key, covering.
delete from entry where pool = ? and key = ? and slot = ? and state = 'dead'
  and not exists (select 1 from death d where d.pool = entry.pool and d.key = entry.key and d.slot = entry.slot)

-- name: old_deaths
-- Index death_by_time.
select id from death where pool = ? and died_at <= ? order by died_at, id limit ?
