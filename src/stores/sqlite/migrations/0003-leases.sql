-- The lease of each member, which should be the same for all. Null: it joined before there was this column.
alter table member add column lease_ms integer;
