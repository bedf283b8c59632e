-- In how many crashes of its owners a run may have been under way; null: in none.
alter table headrace.entry add column crashes smallint;

-- How many runs the owner of a fence may have under way, and how many the owner before may have had, unless it had
-- released the fence.
alter table headrace.fence add column concurrency integer not null default 0;
alter table headrace.fence add column suspects integer not null default 0;
