-- How often the file was opened. It only grows: an earlier copy of the file, put in its place, has a smaller number.
create table opening (id integer primary key check (id = 1), number integer not null) strict;
insert into opening (id, number) values (1, 0);
