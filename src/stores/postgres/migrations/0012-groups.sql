-- The group of the put that died, so that deaths are found by it; null where it is the key.
alter table headrace.death add column grp text collate "C";
