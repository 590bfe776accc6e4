SELECT c_custkey AS customer, c_mktsegment AS market_segment FROM tpch.customer
