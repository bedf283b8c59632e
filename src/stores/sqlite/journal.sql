-- name: next_turn
-- Read and written under the write lock, by one process at a time.
select next from counter where name = 'turn'

-- name: save_next_turn
update counter set next = ? where name = 'turn'

-- name: add_segment
insert into segment (first_turn, pool, put_at, entries) values (?, ?, ?, ?)

-- name: segments
-- Index segment_by_pool, covering; one seek into gone for each.
select first_turn, bits from segment left join gone on segment = first_turn where pool = ? order by first_turn

-- name: load_segment
select put_at, entries from segment where first_turn = ?

-- name: delete_segment
delete from segment where first_turn = ?

-- name: save_gone
insert into gone (segment, bits) values (?, ?) on conflict (segment) do update set bits = excluded.bits

-- name: delete_gone
delete from gone where segment = ?
