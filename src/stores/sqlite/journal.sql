-- name: next_turn
-- Read and written under the write lock, by one process at a time.
select next from counter where name = 'turn'

-- name: save_next_turn
update counter set next = ? where name = 'turn'

-- name: add_segment
insert into segment (first_turn, pool, put_at, entries) values (?, ?, ?, ?)

-- name: segments_after
-- Index segment_by_pool, covering; one seek into gone for each. Turns only grow: a later segment has a higher one.
select first_turn, bits from segment left join gone on segment = first_turn
where pool = ? and first_turn > ? order by first_turn

-- name: load_segment
select put_at, entries from segment where first_turn = ?

-- name: delete_segment
delete from segment where first_turn = ?

-- name: save_gone
insert into gone (segment, changed, bits) values (?, ?, ?)
on conflict (segment) do update set changed = excluded.changed, bits = excluded.bits

-- name: delete_gone
delete from gone where segment = ?

-- name: add_emptied
insert into emptied (changed, segment) values (?, ?)

-- name: new_change
-- Under the write lock; rolled back with its transaction.
update counter set next = next + 1 where name = 'change' returning next

-- name: last_change
select next from counter where name = 'change'

-- name: last_purged
select next from counter where name = 'purged'

-- name: gone_since
-- Index gone_by_change: of every pool.
select segment, bits from gone where changed > ?

-- name: emptied_since
-- Primary key: of every pool.
select segment from emptied where changed > ?

-- name: purge_emptied
-- Primary key; bounded.
delete from emptied where (changed, segment) in (
  select changed, segment from emptied where changed <= ? order by changed limit ?
)

-- name: save_purged
update counter set next = max(next, ?) where name = 'purged'
