-- name: all_topics
select id, name, partitions, retention_ms from topic order by name

-- name: add_topic
insert into topic (name, partitions, retention_ms) values (?, ?, ?)

-- name: save_retention
update topic set retention_ms = ? where id = ?

-- name: add_head
insert into head (topic, partition, oldest, next) values (?, ?, 0, 0)

-- name: all_heads
select topic, partition, oldest, next from head order by topic, partition

-- name: save_head
update head set oldest = ?, next = ? where topic = ? and partition = ?

-- name: add_event
insert into event (topic, partition, offset, id, key, value, headers, time) values (?, ?, ?, ?, ?, ?, ?, ?)

-- name: read_events
-- Primary key: one seek, then in order.
select offset, id, key, value, headers, time from event
where topic = ? and partition = ? and offset >= ? order by offset limit ?

-- name: oldest_times
-- Primary key, from the oldest on; bounded.
select offset, time from event where topic = ? and partition = ? order by offset limit ?

-- name: trim_events
delete from event where topic = ? and partition = ? and offset < ?
