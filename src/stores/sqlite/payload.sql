-- Payloads of pools that keep them all. Index payload_by_key.

-- name: payloads_of
select payload from payload where pool = ? and key = ? and after = ? order by id

-- name: weigh_payloads
select count(*) as count, sum(octet_length(payload)) as bytes from payload where pool = ? and key = ?

-- name: add_payload
insert into payload (pool, key, after, payload) values (?, ?, ?, ?)

-- name: drop_payloads
delete from payload where pool = ? and key = ? and after = ?

-- name: drop_first_payloads
delete from payload where id in (
  select id from payload where pool = ? and key = ? and after = 0 order by id limit ?
)

-- name: promote_payloads
update payload set after = 0 where pool = ? and key = ? and after = 1

-- name: forget_payloads
delete from payload where pool = ? and key = ?

-- name: begin_request
savepoint request

-- name: undo_request
rollback to request

-- name: end_request
release request
