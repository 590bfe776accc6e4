-- What is in the data directories of older versions. DirectoryMaker says how it is read.
create table kinds (
  id int primary key, b bool, s int2, l int8, f float4, d float8, n numeric, n2 numeric(10, 2),
  c char(5), v varchar(20), t text, y bytea, da date, ti time, ts timestamp, tz timestamptz, iv interval, u uuid);
insert into kinds values
  (1, true, 1, 10000000000, 1.5, 2.25, 123456789012345678901234567890.5, 12.34, 'abc', 'varchar', 'text', '\x00ff',
    '2024-02-29', '23:59:59.5', '2024-02-29 12:00:00.123456', '2024-02-29 12:00:00+00', '1 mon 2 days 03:04:05', '00000000-0000-0000-0000-0000000000ff'),
  (2, false, -32768, -9223372036854775808, 'nan', '-infinity', 'nan', -0.01, '', '', '', '',
    '0001-01-01', '00:00', 'infinity', '-infinity', '-1 year', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
  (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
create table digits (d int primary key, letter text);
insert into digits values (0, 'a'), (1, 'b'), (2, 'c'), (3, 'd'), (4, 'e'), (5, 'f'), (6, 'g'), (7, 'h'), (8, 'i'), (9, 'j');
insert into kinds (id, t, n) select 10 + d, letter || letter || letter || letter, d * 1.1 from digits;
update kinds set t = t || t || t || t || t || t || t || t || t || t where id > 12;
update kinds set t = t || t || t || t || t || t || t || t || t || t where id > 15;
create table parents (id int primary key, name text not null, mail text unique);
insert into parents values (1, 'one', 'one@example.org'), (2, 'two', null), (3, 'three', 'three@example.org');
create table rows (id int primary key, parent int, v text, w int);
create index rows_v on rows (v);
create index rows_w on rows (w desc, id);
insert into rows select 1 + a.d + 10 * b.d + 100 * c.d, 1 + b.d % 3, 'value ' || a.letter || b.letter || c.letter, a.d from digits a, digits b, digits c where c.d < 3;
update rows set v = 'changed ' || v where id % 7 = 0;
delete from rows where id % 11 = 0;

--@ restart
update rows set w = w + 100, v = 'later ' || v where id % 13 = 0;
insert into rows values (1000, 1, null, null);
delete from parents where id = 3;
--@ from 2
create schema s;
create table s.counted (id int generated always as identity primary key, a int default 7);
insert into s.counted (a) values (1), (2);
insert into s.counted default values;
create sequence numbers start 100 increment 5;
select nextval('numbers');
create view later as select id, v from rows where v like 'later %';
create unique index parents_name on parents (name);
create table referencing (id int primary key, parent int references parents on delete cascade);
insert into referencing values (1, 1), (2, 2), (3, 1);
--@ from 3
create index some_rows on rows (v) where w > 100;
create table made (id int primary key, twice int generated always as (id * 2) stored, check (id > 0));
insert into made values (1), (2);
create table arrays (id int primary key, a int[], t text[], j json, b jsonb);
insert into arrays values (1, '{1,NULL,3}', '{a,"b c",NULL}', '{"a": [1, 2]}', '{"b": {"c": null}, "a": 1.50}'), (2, '{}', null, null, '"x"');
alter table rows add column added text default 'missing', add column gone int default 5;
insert into rows values (1001, 2, 'with all', 1, 'given', 6);
alter table rows drop column gone;
comment on table rows is 'rows with a past';
create role clerk login;
create role readers;
grant readers to clerk;
grant select, insert on rows to readers;
--@ from 5
create queue mail with (max_attempts = 3);
create queue dead;
select enqueue('mail', jsonb_build_object('n', i), key => 'k' || i % 2, priority => i % 3) from generate_series(1, 9) i;
select enqueue('mail', '"later"', run_at => '2999-01-01 00:00+00');
select enqueue('mail', '"once"', unique_key => 'u');
select cancel_task('mail', task_id) from kakehashi_catalog.tasks where payload = '{"n": 5}';
--@ restart
select count(*) from receive('mail', max => 2, lease => '1s');
select complete(token) from receive('mail', max => 1);
select enqueue('mail', '\x6e6f206a736f6e'::bytea);
select enqueue('dead', '{}');

--@ from 1
--@ queries
select * from kinds order by id;
select id, t from kinds where id > 18;
select * from parents order by id;
select id, name from parents where mail = 'one@example.org';
select id, parent, v, w from rows order by id;
select id from rows where v >= 'later' and v < 'm' order by id;
select id from rows where w = 9 order by id;
--@ from 2
--@ queries
select * from s.counted order by id;
select * from later order by id;
select id from parents where name = 'two';
select * from referencing order by id;
--@ from 3
--@ queries
select id from rows where v > 'later value c' and w > 100 order by id;
select * from made order by id;
select * from arrays order by id;
select id, added from rows where added <> 'missing' or id > 290 order by id;
select has_table_privilege('clerk', 'rows', 'select'), has_table_privilege('readers', 'rows', 'delete');
select column_name, data_type from information_schema.columns where table_name = 'rows' order by ordinal_position;
--@ from 5
--@ queries
select queue_name, enqueued, delayed, canceled, done from kakehashi_catalog.queues order by queue_name;
select queue_name, task_id, attempts, key, priority, payload, payload_bytes from kakehashi_catalog.tasks order by queue_name, task_id;

--@ from 1
--@ prepare decided later
insert into rows (id, parent, v, w) values (2000, 1, 'prepared', 1);
update rows set v = 'prepared' where id = 1;
delete from rows where id = 2;
