-- name: changes_made
select total_changes() as changes

-- name: count_commit
update counter set next = next + 1 where name = 'commit'

-- name: last_commit
-- Primary key: two seeks.
select (select next from counter where name = 'commit') as commits, (select next from counter where name = 'roster') as roster
