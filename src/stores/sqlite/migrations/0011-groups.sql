-- The group of the put that died, so that deaths are found by it; null where it is the key.
alter table death add column grp text;
