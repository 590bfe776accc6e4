-- Each month's revenue of each segment of the market, and its customer with the most.
WITH by_customer AS (
  SELECT CAST(trunc(order_date, 'month') AS DATE) AS month, rtrim(market_segment) AS market_segment, customer,
         count(*) AS orders, sum(price) AS revenue
  FROM orders JOIN customer USING (customer)
  GROUP BY ALL),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY month, market_segment ORDER BY revenue DESC, customer) AS place
  FROM by_customer)
SELECT month, market_segment, sum(orders) AS orders, CAST(sum(revenue) AS DECIMAL(20, 2)) AS revenue,
       max(customer) FILTER (WHERE place = 1) AS best_customer,
       CAST(max(revenue) FILTER (WHERE place = 1) AS DECIMAL(20, 2)) AS best_revenue
FROM ranked
GROUP BY month, market_segment
