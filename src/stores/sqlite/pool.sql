-- name: find_pool
select id, mode, partitions, remember_ms, fans_out, throttle_ms, payloads from pool where name = ?

-- name: add_pool
insert into pool (name, mode, partitions, remember_ms, fans_out, throttle_ms, payloads) values (?, ?, ?, ?, ?, ?, ?)

-- name: all_pools
-- A row for each pool.
select id, name, mode, partitions, remember_ms, dead_for_ms, fans_out, throttle_ms, payloads from pool order by name

-- name: stored_pool
select id, name, mode, partitions, remember_ms, dead_for_ms, fans_out, throttle_ms, payloads from pool where name = ?

-- name: save_dead_for
update pool set dead_for_ms = ? where id = ?

-- name: remember_of
select remember_ms from pool where id = ?

-- name: save_remember
update pool set remember_ms = ? where id = ?

-- name: throttle_of
select throttle_ms from pool where id = ?

-- name: save_throttle
update pool set throttle_ms = ? where id = ?

-- name: rest_of
select until from fired where pool = ? and key = ? and slot = ?

-- name: forget_rest
delete from fired where pool = ? and key = ? and slot = ?

-- name: has_entries
-- Index entry_by_key: one seek.
select 1 from entry where pool = ? limit 1

-- name: find_entry
-- Index entry_by_key: one seek.
select * from entry where pool = ? and key = ? and slot = ?

-- name: entries_of_key
-- Index entry_by_key, a page of it: a key may have very many slots.
select * from entry where pool = ? and key = ? order by slot limit ?

-- name: list_key
-- Index entry_by_key; what is found is sorted, and no more than a page is kept.
select * from entry
where pool = ? and key = ? and (due_at, key, slot) > (?, ?, ?) and due_at < ?
  and coalesce((state = 'dead') = ?, true) and coalesce((attempt > 0) = ?, true) and coalesce(grp = ?, true)
order by due_at, slot limit ?

-- name: save_entry
-- A new turn makes a new row; the row of the entry's earlier turn is deleted first.
insert into entry (
  turn, pool, key, slot, grp, partition, lane, due_at, tally, payload, after_due_at, after_tally, after_payload,
  attempt, crashes, state, failing, enqueued_at, put_at, since, after_since, last_error
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (turn) do update set
  lane = excluded.lane, due_at = excluded.due_at, tally = excluded.tally, payload = excluded.payload,
  after_due_at = excluded.after_due_at, after_tally = excluded.after_tally,
  after_payload = excluded.after_payload, attempt = excluded.attempt, crashes = excluded.crashes, state = excluded.state,
  failing = excluded.failing, put_at = excluded.put_at, since = excluded.since, after_since = excluded.after_since,
  last_error = excluded.last_error

-- name: delete_entries
-- Primary key: one seek for each turn of the JSON list.
delete from entry where turn in (select value from json_each(?))

-- name: due_entries
-- Index entry_by_partition, from where the last piece ended, and bounded by the limit.
select * from entry
where pool = ? and partition = ? and lane = ? and state = 'live' and due_at between ? and ?
  and (due_at > ? or turn > ?)
order by due_at, turn limit ?

-- name: has_live
-- Index entry_by_due: one seek.
select 1 from entry where pool = ? and lane = ? and state = 'live' limit 1

-- name: next_due
-- Index entry_by_partition: one seek.
select min(due_at) as due_at from entry where pool = ? and partition = ? and lane = ? and state = 'live'

-- name: next_due_after
-- Index entry_by_partition: one seek.
select min(due_at) as due_at from entry
where pool = ? and partition = ? and lane = ? and state = 'live' and due_at > ?

-- name: list_live
-- Index entry_by_due, from the cursor on, in its order. The caller merges lanes.
select * from entry
where pool = ? and lane = ? and state = 'live'
  and (due_at, key, slot) > (?, ?, ?) and due_at < ? and coalesce((attempt > 0) = ?, true)
  and key >= ? and coalesce(key < ?, true) and coalesce(grp = ?, true)
order by due_at, key, slot limit ?

-- name: list_dead
-- Index entry_dead, from the cursor on.
select * from entry
where pool = ? and state = 'dead' and (due_at, key, slot) > (?, ?, ?) and due_at < ?
  and key >= ? and coalesce(key < ?, true) and coalesce(grp = ?, true)
order by due_at, key, slot limit ?

-- name: count_live
-- Index entry_by_due, covering.
select
  count(*) filter (where is_due) as due,
  count(*) filter (where not is_due and attempt > 0) as backing_off,
  count(*) filter (where not is_due and attempt = 0) as waiting
from (select due_at <= ? as is_due, attempt from entry where pool = ? and state = 'live')

-- name: count_dead
-- Index entry_dead, covering.
select count(*) as dead from entry where pool = ? and state = 'dead'

-- name: is_fired
select 1 from fired where pool = ? and key = ? and slot = ? and until > ?

-- name: add_fired
insert into fired (pool, key, slot, until) values (?, ?, ?, ?)
on conflict (pool, key, slot) do update set until = excluded.until

-- name: forget_fired
-- Index fired_by_until; bounded, so that one pulse stays short.
delete from fired where (pool, key, slot) in (
  select pool, key, slot from fired where until <= ? order by until limit ?
)

-- name: find_answer
select fingerprint, answers from kept_answer where pool = ? and id = ? and until > ?

-- name: add_answer
insert into kept_answer (pool, id, fingerprint, answers, until) values (?, ?, ?, ?, ?)
on conflict (pool, id) do update set
  fingerprint = excluded.fingerprint, answers = excluded.answers, until = excluded.until

-- name: forget_answers
-- Index kept_answer_by_until; bounded.
delete from kept_answer where (pool, id) in (
  select pool, id from kept_answer where until <= ? order by until limit ?
)

-- name: has_expired
-- Indexes fired_by_until and kept_answer_by_until, primary key of emptied: three seeks.
select exists (select 1 from fired where until <= ?) or exists (select 1 from kept_answer where until <= ?)
  or exists (select 1 from emptied where changed <= ?) as expired
