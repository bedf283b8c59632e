-- Named locks.

-- name: acquire
-- Lock: the lock's row. Answers nothing when another holds it. A new holder has a new token also when the clock is set
-- back between its two readings.
insert into headrace.named_lock as l (name, holder, token, expires_at)
select $1, $2, greatest(1, least), headrace.now_ms() + $3::bigint from headrace.generation where headrace.in_life(':life')
on conflict (name) do update set (holder, token, expires_at) = (
    select excluded.holder,
      case when l.holder = excluded.holder and l.expires_at > clock.now then l.token
        else greatest(l.token + 1, (select least from headrace.generation)) end,
      clock.now + $3::bigint
    from (select headrace.now_ms() as now) as clock
  )
  where l.holder = excluded.holder or l.expires_at <= headrace.now_ms()
returning name, holder, token, expires_at

-- name: release
-- Not as of now, which may lie in the future once the clock is set back.
update headrace.named_lock set expires_at = 0 
where name = $1 and holder = $2 and expires_at > headrace.now_ms() and headrace.in_life(':life')
returning name

-- name: held_locks
select name, holder, token, expires_at from headrace.named_lock where expires_at > headrace.now_ms() order by name
