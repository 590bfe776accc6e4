select 1 as a, null as b, 'x
y' as c;
select 1 as "a long name", 'tab	here' as t, E'cr\rx' as cr, '日本' as "日本語の列";
select generate_series(1,3) as n, 'abc' as "multi
line", 2.50 as v;
\x
select 1 as a, 'x
y' as c;
select 1 as a, 'xyzxyzxyzxyzxyzxyzxyz' as c, 'multi
li' as "head
er";
select generate_series(1,12) as n, 'abc' as v;
select 1 as a where false;
\x
\pset border 2
select 1 as a, 'x
y' as c;
\x
select 1 as a, 'x
y' as c;
\x
\pset border 0
select 1 as a, 'x
y' as c, 5 as d;
\x
select 1 as a, 'x
y' as c;
\x
\pset border 1
select;
select 1 where false;
\t
select 1, 2;
\t
\a
select 1 as a, null as b;
\x
select 1 as a, null as b union all select 2, 'q' order by 1;
\x
\f ,
select 1 as a, null as b, 'x,y' as c;
select 1 as a, null as b \g (format=csv null=none)
select 1 as a, null as b \gx (format=aligned footer=off)
select 1 as a \g (format=aligned border=2
select 1 as a;
\pset format csv
select 1 as a, null as b, 'x,y' as c, '' as e, '"q"' as q, '\.' as d;
\x
select 1 as a, null as b, 'x,y' as c;
\x
\t
select 1 as a;
\t
\pset format aligned
\pset null '<null>'
\C title
select null as x;
\C
\pset footer off
select 2;
\echo -n a
\echo 'b c' "d e"
\set v 'it''s'
\echo :v :'v' :"v"
select :'v' as v;
begin;
select 1;
rollback;
\p
select 1
\g
select 1 as a, 2 as b \gx
select 1 as p, 'two' as q \gset my_
\echo :my_p :my_q
\if false
\echo no
\elif true
\echo elif
\else
\echo else
\endif
select $$dollar; 'quote'$$ as d, $x$ $$ ; $x$ as e;
select 1 /* comment ; /* nested */ */ as c; -- tail ;
select 'a' as x; select 'b' as y;
select '{"a":[1,2]}'::jsonb as j, array['a b','c"d',null] as arr, '1 year 2 mons -3 days 04:05:06.789'::interval as i, 1e20::float8 as f, 'NaN'::float8 as nan, '-infinity'::timestamp as t;
select * from nothing;
select 1 +
  nothing.x
from (select 1) as t;
\echo :SQLSTATE :ERROR :ROW_COUNT
create table shell_rows (id int primary key, name varchar(10));
\set QUIET off
insert into shell_rows values (1, 'a'), (2, 'b');
insert into shell_rows values (1, 'again');
update shell_rows set name = 'c' where id > 0 returning id, name;
delete from shell_rows where id = 2;
begin;
insert into shell_rows values (3, 'd');
savepoint s;
insert into shell_rows values (4, 'e');
rollback to s;
commit;
select id, name from shell_rows order by id;
drop table shell_rows;
