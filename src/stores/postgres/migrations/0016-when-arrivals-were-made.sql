-- The store's time of the insert: what was put then replaced only what was not due yet. Null where nobody wrote it.
alter table headrace.arrival add column made_at bigint;
