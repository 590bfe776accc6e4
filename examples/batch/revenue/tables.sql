CREATE TABLE IF NOT EXISTS batch_run (run text PRIMARY KEY, snapshot timestamptz NOT NULL, loaded timestamptz NOT NULL, row_count int8 NOT NULL);
CREATE TABLE IF NOT EXISTS monthly_revenue (month date, market_segment text, orders int8 NOT NULL, revenue numeric(20, 2) NOT NULL, best_customer int8 NOT NULL, best_revenue numeric(20, 2) NOT NULL, PRIMARY KEY (month, market_segment));
