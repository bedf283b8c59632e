-- name: all_fences
select resource, partition, epoch, owner, raised_at, concurrency, suspects from fence

-- name: save_fence
insert into fence (resource, partition, epoch, owner, raised_at, concurrency, suspects) values (?, ?, ?, ?, ?, ?, ?)
on conflict (resource, partition) do update set
  epoch = excluded.epoch, owner = excluded.owner, raised_at = excluded.raised_at,
  concurrency = excluded.concurrency, suspects = excluded.suspects

-- name: last_fence
select next from counter where name = 'fence'

-- name: new_fence
-- Under the write lock; rolled back with its transaction.
update counter set next = next + 1 where name = 'fence' returning next
