package dev.kakehashi.server;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The data of an order-entry system after TPC-C, revision 5.11, small: its tables, their first rows, and what must hold between them
/// whatever has committed.
final class OrderEntry {
  static final int WAREHOUSES = 2;
  static final int DISTRICTS = 3;
  static final int CUSTOMERS = 20;
  static final int ITEMS = 50;
  static final int FIRST_ORDERS = CUSTOMERS;
  static final int FIRST_DELIVERED = FIRST_ORDERS * 7 / 10;

  private static final List<String> TABLES =
      List.of(
          """
          create table warehouse (w_id int8 primary key, w_ytd numeric(12, 2) not null)\
          """,
          """
          create table district (
            d_w_id int8 references warehouse, d_id int8, d_next_o_id int8 not null, d_ytd numeric(12, 2) not null,
            primary key (d_w_id, d_id))\
          """,
          """
          create table customer (
            c_w_id int8, c_d_id int8, c_id int8, c_first text not null, c_last text not null,
            c_balance numeric(12, 2) not null, c_ytd_payment numeric(12, 2) not null,
            c_payment_cnt int8 not null, c_delivery_cnt int8 not null,
            primary key (c_w_id, c_d_id, c_id), foreign key (c_w_id, c_d_id) references district)\
          """,
          "create index customer_name on customer (c_w_id, c_d_id, c_last, c_first)",
          """
          create table history (
            h_id int8 generated always as identity primary key, h_c_w_id int8, h_c_d_id int8, h_c_id int8,
            h_w_id int8 not null, h_d_id int8 not null, h_amount numeric(6, 2) not null check (h_amount > 0),
            foreign key (h_c_w_id, h_c_d_id, h_c_id) references customer)\
          """,
          "create table item (i_id int8 primary key, i_price numeric(5, 2) not null)",
          """
          create table stock (
            s_w_id int8 references warehouse, s_i_id int8 references item, s_quantity int8 not null,
            s_ytd int8 not null, s_order_cnt int8 not null, primary key (s_w_id, s_i_id))\
          """,
          """
          create table orders (
            o_w_id int8, o_d_id int8, o_id int8, o_c_id int8 not null, o_carrier_id int8, o_ol_cnt int8 not null,
            primary key (o_w_id, o_d_id, o_id), foreign key (o_w_id, o_d_id, o_c_id) references customer)\
          """,
          "create unique index orders_customer on orders (o_w_id, o_d_id, o_c_id, o_id desc)",
          """
          create table new_order (
            no_w_id int8, no_d_id int8, no_o_id int8, primary key (no_w_id, no_d_id, no_o_id),
            foreign key (no_w_id, no_d_id, no_o_id) references orders)\
          """,
          """
          create table order_line (
            ol_w_id int8, ol_d_id int8, ol_o_id int8, ol_number int8, ol_i_id int8 not null, ol_supply_w_id int8 not null,
            ol_quantity int8 not null, ol_amount numeric(8, 2) not null, ol_delivery_d timestamptz,
            primary key (ol_w_id, ol_d_id, ol_o_id, ol_number),
            foreign key (ol_w_id, ol_d_id, ol_o_id) references orders,
            foreign key (ol_supply_w_id, ol_i_id) references stock)\
          """);

  /// As clause 4.3.3.1 has them: each customer has paid 10.00 once and has ordered once; the orders of old are delivered, for nothing.
  private static final List<String> FIRST_ROWS =
      List.of(
          "insert into warehouse select w, :districts * :customers * 10 from generate_series(1, :warehouses) w",
          """
          insert into district select w, d, :orders + 1, :customers * 10
          from generate_series(1, :warehouses) w, generate_series(1, :districts) d\
          """,
          """
          insert into customer select d_w_id, d_id, c, 'first' || c, 'last' || c % 5, -10, 10, 1, 0
          from district, generate_series(1, :customers) c\
          """,
          """
          insert into history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount)
          select c_w_id, c_d_id, c_id, c_w_id, c_d_id, 10 from customer\
          """,
          "insert into item select i, i * 1.37 from generate_series(1, :items) i",
          "insert into stock select w_id, i_id, 10 + i_id % 90, 0, 0 from warehouse, item",
          """
          insert into orders select d_w_id, d_id, o, 1 + o * 7 % :customers, case when o <= :delivered then 1 + o % 10 end, 5 + o % 11
          from district, generate_series(1, :orders) o\
          """,
          """
          insert into new_order select o_w_id, o_d_id, o_id from orders where o_carrier_id is null\
          """,
          """
          insert into order_line
          select o_w_id, o_d_id, o_id, n, 1 + (o_id + n) % :items, o_w_id, 5, case when o_carrier_id is null then n * 9.01 else 0 end,
            case when o_carrier_id is not null then now() end
          from orders, generate_series(1, 15) n where n <= o_ol_cnt\
          """);

  /// Rows for which a condition does not hold. The names are the numbers of clauses 3.3.2.1 to 3.3.2.12; the thirteenth is ours.
  private static final Map<String, String> VIOLATIONS = violations();

  private static Map<String, String> violations() {
    Map<String, String> queries = new LinkedHashMap<>();
    queries.put(
        "1: what a warehouse has taken is what its districts have",
        "select * from warehouse where w_ytd <> (select sum(d_ytd) from district where d_w_id = w_id)");
    queries.put(
        "2: a district's counter is behind its last order, and its last new order",
        """
        select * from district
        where d_next_o_id - 1 <> (select max(o_id) from orders where o_w_id = d_w_id and o_d_id = d_id)
        or d_next_o_id - 1 <> (select max(no_o_id) from new_order where no_w_id = d_w_id and no_d_id = d_id)\
        """);
    queries.put(
        "3: new orders of a district have no gaps",
        """
        select no_w_id, no_d_id from new_order group by no_w_id, no_d_id
        having max(no_o_id) - min(no_o_id) + 1 <> count(*)\
        """);
    queries.put(
        "4: a district has as many order lines as its orders say",
        """
        select * from (select o_w_id w, o_d_id d, sum(o_ol_cnt) n from orders group by o_w_id, o_d_id) o
        full join (select ol_w_id w, ol_d_id d, count(*) n from order_line group by ol_w_id, ol_d_id) l using (w, d)
        where o.n is distinct from l.n\
        """);
    queries.put(
        "5: an order has a carrier or is a new one",
        """
        select * from orders left join new_order on (no_w_id, no_d_id, no_o_id) = (o_w_id, o_d_id, o_id)
        where (o_carrier_id is null) <> (no_o_id is not null)\
        """);
    queries.put(
        "6: an order has as many lines as it says",
        """
        select * from orders
        where o_ol_cnt <> (select count(*) from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id)\
        """);
    queries.put(
        "7: lines of an order are delivered with it",
        """
        select * from order_line join orders on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
        where (ol_delivery_d is null) <> (o_carrier_id is null)\
        """);
    queries.put(
        "8: what a warehouse has taken is in its history",
        "select * from warehouse where w_ytd <> (select sum(h_amount) from history where h_w_id = w_id)");
    queries.put(
        "9: what a district has taken is in its history",
        """
        select * from district where d_ytd <> (select sum(h_amount) from history where h_w_id = d_w_id and h_d_id = d_id)\
        """);
    queries.put(
        "10: a customer's balance is what was delivered less what was paid",
        """
        with delivered as (
          select o_w_id w, o_d_id d, o_c_id c, sum(ol_amount) amount
          from orders join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
          where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id),
        paid as (select h_c_w_id w, h_c_d_id d, h_c_id c, sum(h_amount) amount from history group by 1, 2, 3)
        select * from customer
        left join delivered on (delivered.w, delivered.d, delivered.c) = (c_w_id, c_d_id, c_id)
        left join paid on (paid.w, paid.d, paid.c) = (c_w_id, c_d_id, c_id)
        where c_balance <> coalesce(delivered.amount, 0) - coalesce(paid.amount, 0)\
        """);
    queries.put(
        "11: orders that are no new ones have been delivered: those of old, and what customers have got",
        """
        select * from district where
          (select count(*) from orders where o_w_id = d_w_id and o_d_id = d_id)
          - (select count(*) from new_order where no_w_id = d_w_id and no_d_id = d_id)
          <> :delivered + (select sum(c_delivery_cnt) from customer where c_w_id = d_w_id and c_d_id = d_id)\
        """);
    queries.put(
        "12: a customer's balance and payments are what was delivered",
        """
        select * from customer where c_balance + c_ytd_payment <> (
          select coalesce(sum(ol_amount), 0) from orders, order_line
          where o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
          and ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d is not null)\
        """);
    queries.put(
        "13: what a stock has given is in orders",
        """
        select * from stock left join (
          select ol_supply_w_id w, ol_i_id i, sum(ol_quantity) quantity, count(*) lines
          from order_line where ol_o_id > :orders group by ol_supply_w_id, ol_i_id) given on w = s_w_id and i = s_i_id
        where s_ytd <> coalesce(quantity, 0) or s_order_cnt <> coalesce(lines, 0)\
        """);
    return queries;
  }

  private static String withSizes(String sql) {
    return sql.replace(":warehouses", Integer.toString(WAREHOUSES))
        .replace(":districts", Integer.toString(DISTRICTS))
        .replace(":customers", Integer.toString(CUSTOMERS))
        .replace(":items", Integer.toString(ITEMS))
        .replace(":orders", Integer.toString(FIRST_ORDERS))
        .replace(":delivered", Integer.toString(FIRST_DELIVERED));
  }

  static void create(Session session) {
    TABLES.forEach(session::execute);
    FIRST_ROWS.forEach(sql -> session.execute(withSizes(sql)));
  }

  /// The conditions that do not hold, each with the number of rows.
  static List<String> violations(Session session) {
    List<String> found = new ArrayList<>();
    VIOLATIONS.forEach((name, sql) -> {
      long rows = number(session, "select count(*) from (%s) v".formatted(withSizes(sql)));
      if (rows > 0) {
        found.add("%s (%d rows)".formatted(name, rows));
      }
    });
    return found;
  }

  static long number(Session session, String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      if (!rows.next()) {
        throw new AssertionError("no row: " + sql);
      }
      return rows.getLong(0);
    }
  }

  private OrderEntry() {}
}
