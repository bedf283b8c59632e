-- Which life of the server and which generation of the store this is.

-- name: find_life
select g.life, g.generation, g.started_at = pg_postmaster_start_time() and g.xmin::text::bigint = g.xid
  and t.last_value >= g.first_turn as is_current
from headrace.generation g cross join headrace.turn t

-- name: renew
-- Lock: the row, and where the store went back the lease, members, fences, allotments; then the version of the roster.
select life, generation from headrace.renew($1)

-- name: pools_named
select id, name, mode, partitions, fans_out, payloads from headrace.pool where name = any ($1::text[])

-- name: topics_named
select id, name, partitions from headrace.topic where name = any ($1::text[])

-- name: if_in_life
-- No query but the frame of those that read by a number of a pool or topic: in another life it may be another one's.
select answer.* from (:asked
) as answer
where headrace.in_life(':life')
