create table points (g int, x float8, y float8);
insert into points values (1, 1, 2), (1, 2, 4.5), (1, 3, 5), (1, null, 7), (1, 4, null), (2, 1, 1), (3, 2, 5), (3, 2, 6), (4, 1, 3), (4, 2, 3);
select g, regr_count(y, x), regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x), regr_avgx(y, x), regr_avgy(y, x) from points group by g order by g;
select g, covar_pop(y, x), covar_samp(y, x), corr(y, x), regr_r2(y, x), regr_slope(y, x), regr_intercept(y, x) from points group by g order by g;
select regr_count(y, x), corr(y, x) from points where false;
select round(corr(distinct y, x)::numeric, 12), corr(g, g), covar_pop(1, 2), regr_slope(x, g) filter (where y > 2) from points;
select g, round((corr(y, x) over (partition by g))::numeric, 6), regr_count(x, y) over (order by g) from points order by g, x, y;
select corr(x) from points;
select corr('a', x) from points;
