-- The progress that runs report.

-- name: tell_progress
insert into progress (pool, key, slot, turn, value, told_at) values (?, ?, ?, ?, ?, ?)
on conflict (pool, key, slot) do update set turn = excluded.turn, value = excluded.value, told_at = excluded.told_at

-- name: read_progress
select turn, value, told_at from progress where pool = ? and key = ? and slot = ?

-- name: sweep_progress
-- Index progress_by_time; bounded.
delete from progress where (pool, key, slot) in (
  select pool, key, slot from progress where told_at <= ? order by told_at limit ?
)
