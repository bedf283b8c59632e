-- Names the history that the file is in.
create table generation (id text not null);

insert into generation (id) values (lower(hex(randomblob(16))));
