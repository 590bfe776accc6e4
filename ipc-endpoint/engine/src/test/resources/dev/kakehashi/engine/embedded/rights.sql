-- as postgres
create role alice login;
create role bob login password 'secret';
create user carol;
create role readers;
create role writers noinherit;
create role alice;
create role pg_mine;
create role "public";
create role none;
create role x nonsense;
create role x login nologin;
create role x superuser superuser;
create user x nologin login;
create group staff role alice, bob;
alter group staff drop user bob;
create table t (a int primary key, b text, c int);
insert into t values (1, 'one', 10), (2, 'two', 20);
create schema s;
create table s.u (a int, b int);
insert into s.u values (1, 2);
create sequence q;
create view v as select a, b from t;
create table w (id serial, n int);
-- as alice
select * from t;
select count(*) from t;
insert into t values (3, 'three', 30);
update t set b = 'x';
delete from t;
truncate t;
select * from v;
select * from s.u;
select * from s.nosuch;
select nosuch from s.u;
select nosuch from t;
select nextval('q');
create table mine (a int);
create schema mine;
create table s.mine (a int);
drop table t;
alter table t add column d int;
alter table t rename to tt;
create index on t (b);
create view vv as select * from t;
drop view v;
drop sequence q;
alter sequence q restart;
comment on table t is 'x';
comment on schema s is 'x';
drop schema s;
create role dave;
drop role bob;
alter role bob login;
alter role alice password 'mine';
alter role alice createdb;
grant readers to alice;
grant select on t to bob;
revoke select on t from bob;
set role readers;
set role nosuch;
grant select on nosuch to bob;
-- as postgres
grant select (a, b) on t to alice;
-- as alice
select a from t order by a;
select a, b from t order by a;
select * from t;
select count(*) from t;
select t from t;
select a from t where c > 0;
select a from t order by c;
select sum(a) from t group by b order by 1;
select t.a from t join t x using (a);
select t.a from t join t x using (c);
select t.a from t natural join t x;
select a from (select a, b from t) x order by 1;
select a from (select a, c from t) x;
select a from t for update;
update t set b = 'x' where a = 1;
select ctid is not null from t;
with x as (select a from t) select * from x order by 1;
with x as (select c from t) select 1;
select exists (select c from t);
select (select max(b) from t);
select 1 where 1 in (select a from t);
select 1 where 1 in (select c from t);
table t;
select count(t.*) from t;
select a from t tablesample system (100) order by 1;
select x.a from t x order by 1;
select x.c from t x;
select y.p from t as y (p, q, r) order by 1;
select y.r from t as y (p, q, r);
values ((select c from t limit 1));
select a from t union select a from t order by 1;
-- as postgres
grant update (b), insert (a, b) on t to alice;
-- as alice
update t set b = 'eins' where a = 1;
update t set c = 1;
update t set b = c::text;
update t set b = 'x' returning a;
update t set b = 'x' where a = 3 returning *;
insert into t (a, b) values (4, 'four');
insert into t values (5, 'five');
insert into t values (5, 'five', 50);
insert into t (a) values (6) returning a;
insert into t (a) values (7) returning c;
insert into t default values;
insert into t (a, b) values (1, 'again') on conflict (a) do nothing;
insert into t (a, b) values (1, 'again') on conflict (a) do update set b = excluded.b;
insert into t (a, b) values (1, 'again') on conflict (a) do update set c = 1;
insert into t (a, b) values (1, 'again') on conflict on constraint t_pkey do nothing;
insert into t (a, b) select a + 10, b from t where a = 1;
insert into t (a, c) select 1, 1;
delete from t where a = 4;
select b from t where a = 1 for update;
select b from t where a = 1 for share;
merge into t using (values (1)) x (k) on t.a = k when matched then update set b = 'm';
merge into t using (values (1)) x (k) on t.a = k when matched then delete;
merge into t using (values (1)) x (k) on t.c = k when matched then update set b = 'm';
merge into t using (values (1)) x (k) on t.a = k when not matched then insert (a, b) values (1, 'x');
merge into t using (values (1)) x (k) on t.a = k when not matched then insert values (1, 'x', 3);
-- as postgres
revoke all on t from alice;
-- as alice
select a from t;
-- as postgres
grant all on t to alice;
-- as alice
select count(*) > 0 from t;
delete from t where a > 2;
drop table t;
truncate t;
insert into t values (1, 'one', 10), (2, 'two', 20);
grant select on t to bob;
-- as bob
select count(*) from t;
-- as postgres
grant select on t to bob with grant option;
-- as bob
select count(*) from t;
grant select on t to carol;
grant insert on t to carol;
grant all on t to carol;
grant select (a) on t to public;
grant select on t to public with grant option;
-- as carol
select count(*) from t;
insert into t values (9, 'x', 1);
-- as bob
revoke select (a) on t from public;
-- as postgres
revoke grant option for select on t from bob;
revoke select on t from bob;
revoke grant option for select on t from bob cascade;
-- as carol
select count(*) from t;
-- as bob
select count(*) from t;
-- as postgres
revoke select on t from bob cascade;
-- as bob
select count(*) from t;
-- as postgres
grant nonsense on t to bob;
grant usage on t to bob;
grant delete (a) on t to bob;
grant select (nosuch) on t to bob;
grant create on t to bob;
grant select on schema s to bob;
grant usage on sequence t to bob;
grant select on t_pkey to bob;
grant select on t to nosuch;
grant select on nosuch to bob;
grant select on nosuch.t to bob;
grant usage on schema nosuch to bob;
grant select on all tables in schema nosuch to bob;
grant select (a) on all tables in schema s to bob;
grant select on t to bob granted by alice;
grant select on t to bob granted by postgres;
grant execute on t to bob;
grant connect on database kakehashi to bob;
revoke connect on database kakehashi from bob;
-- schemas
grant usage on schema s to alice;
-- as alice
select * from s.u;
select * from s.nosuch;
create table s.mine (a int);
-- as postgres
grant select on all tables in schema s to alice;
grant create on schema s to alice;
-- as alice
select * from s.u;
create table s.mine (a int primary key, b int);
insert into s.mine values (1, 1);
create table s.u (a int);
grant select on s.mine to bob;
-- as bob
select * from s.mine;
-- as alice
grant usage on schema s to bob;
-- as postgres
grant usage on schema s to bob;
-- as bob
select * from s.mine;
insert into s.mine values (2, 2);
create table s.other (a int);
create view s.vm as select * from s.mine;
-- as postgres
grant usage, create on schema s to bob with grant option;
-- as bob
create view s.vm as select * from s.mine;
select * from s.vm;
grant select on s.vm to carol;
grant usage on schema s to carol;
-- as carol
select * from s.vm;
select * from s.mine;
-- as alice
revoke select on s.mine from bob;
-- as carol
select * from s.vm;
-- as bob
select * from s.vm;
-- as alice
select * from s.vm;
-- as postgres
select * from s.vm;
-- views
grant select (a) on v to carol;
-- as carol
select a from v order by a;
select b from v;
select * from v;
select count(*) from v;
-- sequences
-- as postgres
grant usage on sequence q to carol;
grant insert on w to carol;
-- as carol
select nextval('q');
select currval('q');
select setval('q', 10);
insert into w (n) values (1);
insert into w (id, n) values (7, 1);
-- as postgres
grant usage on sequence w_id_seq to carol;
grant update on q to carol;
-- as carol
insert into w (n) values (1);
select setval('q', 10);
-- as postgres
grant usage on q to carol;
grant select on q to carol;
revoke all on sequence q from carol;
-- as carol
select nextval('q');
-- membership
-- as postgres
grant readers to alice;
grant writers to alice with admin option;
grant select on w to readers;
grant select on q to writers;
grant insert on w to writers;
grant readers to nosuch;
grant nosuch to alice;
grant alice to readers;
grant alice to alice;
grant writers to readers;
-- as alice
select count(*) > 0 from w;
insert into w (id, n) values (100, 1);
set role writers;
insert into w (id, n) values (100, 1);
select count(*) from w;
select current_user, session_user;
set role none;
select current_user, session_user, current_role, user;
set role 'readers';
select current_user;
reset role;
select current_user;
grant writers to bob;
grant readers to bob;
revoke writers from bob;
revoke readers from bob;
set role postgres;
set session role writers;
select current_user;
insert into t values (50, 'x', 1);
reset role;
-- as postgres
set role alice;
select current_user;
select * from s.u;
create role zoe;
set role none;
create role chief superuser;
create role maker createrole login;
-- as maker
create role made login;
create role made2 superuser;
grant readers to made;
grant chief to made;
alter role made nologin;
alter role chief login;
alter role made superuser;
drop role made;
drop role chief;
drop role maker;
drop role if exists nosuch;
drop role nosuch;
drop role readers;
alter role bob rename to bobby;
alter role bobby rename to bob;
alter role maker rename to me;
alter role bob rename to alice;
alter role bob rename to pg_bob;
alter role postgres rename to root;
grant pg_monitor to made;
grant select on t to maker;
-- as postgres
drop role alice;
drop role pg_monitor;
drop role postgres;
alter role pg_monitor login;
revoke readers from alice;
-- as alice
select count(*) from w;
-- ownership
-- as alice
alter table s.mine owner to bob;
alter table s.mine owner to alice;
alter table s.u owner to alice;
-- as postgres
alter table s.mine owner to bob;
-- as alice
select * from s.mine;
insert into s.mine values (3, 3);
-- as bob
select * from s.mine;
insert into s.mine values (3, 3);
alter table s.mine add c int;
create index on s.mine (b);
drop view s.vm;
alter table s.mine rename to ours;
alter table s.ours set schema public;
comment on table s.ours is 'ours';
truncate s.ours;
alter schema s owner to bob;
-- as postgres
alter schema s owner to bob;
alter sequence w_id_seq owner to bob;
alter sequence q owner to bob;
alter view v owner to bob;
alter table v owner to alice;
alter table w owner to alice;
alter view t owner to alice;
alter sequence t owner to alice;
alter table nosuch owner to alice;
alter table if exists nosuch owner to alice;
alter table t owner to nosuch;
-- as bob
drop table s.u;
select nextval('q');
drop sequence q;
-- as alice
insert into w (n) values (5);
alter table w add m int;
drop table w;
-- foreign keys
-- as bob
create table s.child (a int references t);
create table s.child (a int references t (a));
-- as postgres
grant references (a) on t to bob;
-- as bob
create table s.child (a int references t (a));
insert into s.child values (1);
insert into s.child values (77);
create table s.likes (like t);
-- as postgres
delete from t where a = 1;
-- default privileges
-- as bob
alter default privileges in schema s grant select on tables to carol;
alter default privileges grant usage on sequences to carol;
alter default privileges in schema nosuch grant select on tables to carol;
alter default privileges for role alice grant select on tables to carol;
alter default privileges in schema s grant usage on schemas to carol;
alter default privileges grant usage on tables to carol;
create table s.fresh (a int, b serial);
create sequence s.freshq;
-- as carol
select * from s.fresh;
insert into s.fresh values (1);
select nextval('s.freshq');
-- as bob
alter default privileges in schema s revoke select on tables from carol;
alter default privileges revoke all on sequences from carol;
create table s.stale (a int);
create sequence s.staleq;
-- as carol
select * from s.stale;
select nextval('s.staleq');
select * from s.fresh;
-- predefined
-- as postgres
create role reader login;
create role writer login;
grant pg_read_all_data to reader;
grant pg_write_all_data to writer;
-- as reader
select count(*) from t;
select count(*) from s.fresh;
insert into t values (70, 'x', 1);
select nextval('s.freshq');
-- as writer
insert into t values (71, 'x', 1);
select count(*) from t;
update t set b = 'y';
delete from s.fresh;
delete from s.fresh where a = 1;
truncate s.fresh;
-- drop
-- as postgres
drop role bob;
drop role carol;
reassign owned by bob to alice;
drop role bob;
drop owned by bob;
drop role bob;
drop owned by carol;
drop role carol;
-- as alice
select count(*) from s.fresh;
drop schema s;
drop owned by maker;
reassign owned by maker to alice;
-- as postgres
drop owned by alice;
drop owned by alice cascade;
drop owned by postgres;
drop role alice;
select * from s.u;
drop role readers, writers, staff;
select count(*) from t;
-- public
create role pat login;
revoke usage on schema public from public;
-- as pat
select * from t;
select * from public.t;
create table public.x (a int);
-- as postgres
grant usage on schema public to pat;
grant select on t to public;
-- as pat
select count(*) from t;
-- as postgres
revoke select on t from public;
-- as pat
select count(*) from t;
-- as postgres
grant create on database kakehashi to pat;
-- as pat
create schema patty;
create table patty.p (a int generated always as identity, b int);
insert into patty.p (b) values (1);
alter schema patty rename to patsy;
select b from patsy.p;
select has_table_privilege('t', 'select'), has_table_privilege('public.t', 'SELECT, INSERT'), has_table_privilege('reader', 't', 'select'), has_table_privilege('writer', 't', 'insert with grant option');
select has_table_privilege('nosuch', 't', 'select');
select has_table_privilege('nosuch', 'select');
select has_table_privilege('t', 'nosuch');
select has_table_privilege('public', 't', 'select'), has_table_privilege('patsy.p', 'select'), has_table_privilege('patsy.p', 'select with grant option'), has_table_privilege('maker', 'patsy.p', 'delete');
select has_column_privilege('t', 'a', 'select'), has_column_privilege('pat', 'patsy.p', 'b', 'update'), has_any_column_privilege('t', 'select'), has_any_column_privilege('maker', 'patsy.p', 'insert');
select has_column_privilege('t', 'nosuch', 'select');
select has_schema_privilege('patsy', 'create'), has_schema_privilege('maker', 'patsy', 'usage'), has_schema_privilege('public', 'usage'), has_schema_privilege('maker', 'public', 'usage');
select has_schema_privilege('nosuch', 'usage');
select has_database_privilege('kakehashi', 'create'), has_database_privilege('maker', 'kakehashi', 'create'), has_database_privilege('maker', 'kakehashi', 'connect, create');
select has_sequence_privilege('w_id_seq', 'usage'), has_sequence_privilege('patsy.p_a_seq', 'update');
select has_sequence_privilege('t', 'usage');
select pg_has_role('pg_read_all_data', 'member'), pg_has_role('reader', 'pg_read_all_data', 'usage'), pg_has_role('reader', 'pg_read_all_data', 'member with admin option'), pg_has_role('postgres', 'reader', 'usage');
select pg_has_role('reader', 'nonsense');
select pg_has_role('nosuch', 'usage');
create schema authorization pat;
create schema r authorization reader;
drop schema patsy cascade;
drop schema pat;
-- as reader
create schema r;
-- as postgres
create role nothing login;
create role reads login;
create role onecolumn login;
create role changes login;
create role owns login;
create role owners;
grant owners to owns;
create schema look;
create schema secret;
grant usage on schema look to reads, onecolumn, changes;
create table look.plain (a int primary key, b int default 7, c text);
create table look.child (a int primary key, p int references look.plain);
create view look.seen as select a, c from look.plain;
create table secret.hidden (a int);
grant select on look.plain, look.seen to reads;
grant select (c), update (b) on look.plain to onecolumn;
grant insert, select on look.child to changes;
alter table look.child owner to owners;
-- as nothing
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
-- as reads
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
-- as onecolumn
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
-- as changes
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
-- as owns
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
-- as postgres
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
-- as postgres
revoke all on all tables in schema look from reads;
grant pg_read_all_data to nothing;
-- as nothing
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
-- as reads
select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema', 'kakehashi_catalog');
select table_name, column_name, ordinal_position, column_default from information_schema.columns where table_schema = 'look';
select table_name, constraint_name, constraint_type from information_schema.table_constraints where constraint_schema = 'look' and constraint_type <> 'CHECK';
select table_name, column_name from information_schema.key_column_usage where constraint_schema = 'look';
select constraint_name from information_schema.referential_constraints where constraint_schema = 'look';
select schema_name from information_schema.schemata where schema_name in ('look', 'public', 'secret');
