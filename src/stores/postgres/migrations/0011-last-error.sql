-- What the last attempt of an entry failed with, until a run of it is done; null: nothing was thrown.
alter table headrace.entry add column last_error text;
