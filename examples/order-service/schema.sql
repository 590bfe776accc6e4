-- What the order service needs, in the engine's SQL.
CREATE TABLE product (id bigint PRIMARY KEY, name text NOT NULL, price numeric(12, 2) NOT NULL, stock integer NOT NULL CHECK (stock >= 0));
CREATE TABLE customer (name text PRIMARY KEY, email text NOT NULL);
CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL REFERENCES customer, product bigint NOT NULL REFERENCES product,
  quantity integer NOT NULL, total numeric(14, 2) NOT NULL, state text NOT NULL);
CREATE INDEX orders_customer ON orders (customer);
CREATE TABLE mail_sent (order_id bigint PRIMARY KEY, email text NOT NULL, line text NOT NULL);
CREATE QUEUE mail;
