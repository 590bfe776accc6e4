-- options: {"partition_by": "order_year"}
SELECT o_orderkey AS order_key, o_custkey AS customer, o_orderdate AS order_date, o_totalprice AS price,
       extract(year FROM o_orderdate)::int4 AS order_year
FROM tpch.orders
WHERE o_orderstatus <> 'P'
