create table t (id int primary key, k int);
insert into t values (1, 10), (2, 10), (3, 20), (4, null);
select 'a' 'b';
select 'a'  'b' as x;
select 'a' /* between */ 'b';
select 'a' -- a comment
  'b' as x;
select 'a'
'b'
	  -- a comment

   'c' as x;
select 'a'
-- 'b'
, 'c';
select 'a' /* between
*/ 'b';
select 'a'
/* between */ 'b';
select E'a\t'
 'b\t' as x, 'c\t'
 'd\t' as y;
select 'a'
E'b';
select E'a'
E'b';
select $$a$$
'b';
select 'a'
$$b$$;
select 'it''s'
  ' ''quoted''' as x;
select date '2020-'
'01-02' as d, interval '1 '
'day' as i;
select date '2020-' '01-02';
select interval '1' '2';
select '1'
'2'::int + 1 as x;
select * from t where k::text = '1'
'0' order by id;
select * from t where k::text = '1' '0';
comment on table t is 'first '
 'second';
comment on table t is 'first ' 'second';
select sum(k) over (partition by (select 1)) from t order by 1;
select id, sum(k) over (partition by (select u.k from t u where u.id = t.id) order by id) from t order by id;
select id, sum(k) over (partition by (select 1), k, (select max(id) from t) order by id) from t order by id;
select id, count(*) over (partition by ((select k)) order by (select -t.id)) from t order by id;
select id, count(*) over (partition by (select 1) + 1, ((select 2) + 3) order by id desc) from t order by id;
select id, rank() over w, count(*) over (w rows 1 preceding) from t window w as (partition by (values (1)) order by id) order by id;
select id, count(*) over (partition by (with q as (select 5) select * from q)) from t order by id;
select id, count(*) over (partition by (select id, k from t)) from t order by id;
select id, count(*) over (partition by (select u.id from t u)) from t order by id;
select id, count(*) over (partition by k in (select 10), (id) order by id) from t order by id;
select id, count(*) over (partition by exists (select 1 from t u where u.k = t.id * 10)) from t order by id;
select count(*) over (partition by select 1) from t;
select cycle, search from (select 1 as cycle, 2 as search) cycle;
select * from (select 1 as a) search;
select (select id from t where id = 1) cycle;
