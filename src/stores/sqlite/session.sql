-- name: changes_made
select total_changes() as changes

-- name: count_commit
update counter set next = next + 1 where name = 'commit'

-- name: last_commit
-- Primary key: two seeks.
select (select next from counter where name = 'commit') as commits, (select next from counter where name = 'roster') as roster

-- name: read_generation
select id from generation

-- name: count_opening
-- Primary key.
update opening set number = number + 1 where id = 1 returning number

-- name: read_openings
-- Primary key.
select number from opening where id = 1
