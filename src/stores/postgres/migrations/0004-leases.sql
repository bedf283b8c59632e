-- The lease of each member, which should be the same for all. Null: it joined before there was this column.
alter table headrace.member add column lease_ms bigint;
