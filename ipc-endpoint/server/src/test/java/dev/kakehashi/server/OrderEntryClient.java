package dev.kakehashi.server;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A terminal of [OrderEntry]: TPC-C's five transactions in its mix (clause 5.2.3), without think time. One thread, one session.
final class OrderEntryClient {
  /// Refusals after which a transaction is begun again.
  private static final List<String> CONFLICTS = List.of("40001", "40P01");

  /// New orders that all clients were told to be stored, and refusals that they met.
  record Counts(AtomicLong newOrders, AtomicLong refusals) {
    Counts() {
      this(new AtomicLong(), new AtomicLong());
    }
  }

  private final Session session;
  private final TransactionOptions options;
  private final Random random;
  private final ClientLoad load;
  private final Counts counts;
  private final Map<String, PreparedStatement> statements = new HashMap<>();

  OrderEntryClient(
      Session session, TransactionOptions options, Random random, ClientLoad load, Counts counts) {
    this.session = session;
    this.options = options;
    this.random = random;
    this.load = load;
    this.counts = counts;
  }

  /// One transaction, again until it is not refused.
  void one() {
    int card = random.nextInt(100);
    if (card < 45) {
      boolean unused = random.nextInt(10) == 0; // clause 2.4.1.4: an item that does not exist
      run(options, this::newOrder, unused);
      counts.newOrders.addAndGet(unused ? 0 : 1);
    } else if (card < 88) {
      run(options, this::payment, false);
    } else if (card < 92) {
      run(TransactionOptions.READ_ONLY, this::orderStatus, false);
    } else if (card < 96) {
      run(options, this::delivery, false);
    } else {
      run(TransactionOptions.READ_ONLY, this::stockLevel, false);
    }
  }

  private void run(TransactionOptions how, Consumer<Transaction> work, boolean rollback) {
    while (true) {
      Transaction transaction = session.begin(how);
      try {
        work.accept(transaction);
        if (rollback) {
          transaction.rollback();
        } else {
          transaction.commit();
          load.committed();
        }
        return;
      } catch (EndpointException refused) {
        if (!session.isAlive() || !CONFLICTS.contains(refused.sqlstate())) {
          throw refused;
        }
        counts.refusals.incrementAndGet();
        transaction.rollback();
      }
    }
  }

  private void newOrder(Transaction transaction) {
    long warehouse = warehouse();
    long district = district();
    long customer = customer();
    long order =
        number(
            transaction,
            "update district set d_next_o_id = d_next_o_id + 1 where d_w_id = $1 and d_id = $2 returning d_next_o_id - 1",
            warehouse,
            district);
    long lines = 5L + random.nextInt(11);
    change(
        transaction,
        "insert into orders values ($1, $2, $3, $4, null, $5)",
        warehouse,
        district,
        order,
        customer,
        lines);
    change(transaction, "insert into new_order values ($1, $2, $3)", warehouse, district, order);
    for (long line = 1; line <= lines; line++) {
      long item = 1L + random.nextInt(OrderEntry.ITEMS);
      long supplier = random.nextInt(10) == 0 ? warehouse() : warehouse;
      long quantity = 1L + random.nextInt(10);
      change(
          transaction,
          """
          update stock set s_quantity = case when s_quantity >= $3 + 10 then s_quantity - $3 else s_quantity - $3 + 91 end,
            s_ytd = s_ytd + $3, s_order_cnt = s_order_cnt + 1
          where s_w_id = $1 and s_i_id = $2\
          """,
          supplier,
          item,
          quantity);
      change(
          transaction,
          """
          insert into order_line
          select $1, $2, $3, $4, i_id, $5, $6, $6 * i_price, null from item where i_id = $7\
          """,
          warehouse,
          district,
          order,
          line,
          supplier,
          quantity,
          item);
    }
  }

  private void payment(Transaction transaction) {
    long warehouse = warehouse();
    long district = district();
    boolean remote = random.nextInt(100) < 15;
    long customerWarehouse = remote ? warehouse() : warehouse;
    long customerDistrict = remote ? district() : district;
    BigDecimal amount = BigDecimal.valueOf(100 + random.nextInt(499_901), 2);
    change(
        transaction, "update warehouse set w_ytd = w_ytd + $2 where w_id = $1", warehouse, amount);
    change(
        transaction,
        "update district set d_ytd = d_ytd + $3 where d_w_id = $1 and d_id = $2",
        warehouse,
        district,
        amount);
    long customer = customer();
    if (random.nextInt(100) < 60) {
      // Clause 2.5.2.2: of the customers of a name, the one in the middle.
      customer =
          number(
              transaction,
              """
              select c_id from customer where c_w_id = $1 and c_d_id = $2 and c_last = $3 order by c_first
              offset (select (count(*) - 1) / 2 from customer where c_w_id = $1 and c_d_id = $2 and c_last = $3) limit 1\
              """,
              customerWarehouse,
              customerDistrict,
              "last" + random.nextInt(5));
    }
    change(
        transaction,
        """
        update customer set c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4, c_payment_cnt = c_payment_cnt + 1
        where c_w_id = $1 and c_d_id = $2 and c_id = $3\
        """,
        customerWarehouse,
        customerDistrict,
        customer,
        amount);
    change(
        transaction,
        """
        insert into history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount) values ($1, $2, $3, $4, $5, $6)\
        """,
        customerWarehouse,
        customerDistrict,
        customer,
        warehouse,
        district,
        amount);
  }

  private void delivery(Transaction transaction) {
    long warehouse = warehouse();
    long carrier = 1L + random.nextInt(10);
    for (long district = 1; district <= OrderEntry.DISTRICTS; district++) {
      Long order =
          numberIfAny(
              transaction,
              """
              select no_o_id from new_order where no_w_id = $1 and no_d_id = $2 order by no_o_id limit 1 for update\
              """,
              warehouse,
              district);
      if (order == null) {
        continue;
      }
      change(
          transaction,
          "delete from new_order where no_w_id = $1 and no_d_id = $2 and no_o_id = $3",
          warehouse,
          district,
          order);
      long customer =
          number(
              transaction,
              """
              update orders set o_carrier_id = $4 where o_w_id = $1 and o_d_id = $2 and o_id = $3 returning o_c_id\
              """,
              warehouse,
              district,
              order,
              carrier);
      update(
          transaction,
          """
          update order_line set ol_delivery_d = now() where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3\
          """,
          warehouse,
          district,
          order);
      change(
          transaction,
          """
          update customer set c_delivery_cnt = c_delivery_cnt + 1, c_balance = c_balance + (
            select sum(ol_amount) from order_line where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3)
          where c_w_id = $1 and c_d_id = $2 and c_id = $4\
          """,
          warehouse,
          district,
          order,
          customer);
    }
  }

  /// An order that a reader sees must be whole, whatever others do.
  private void orderStatus(Transaction transaction) {
    long missing =
        number(
            transaction,
            """
            select o_ol_cnt - (
              select count(*) from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id)
            from orders where o_w_id = $1 and o_d_id = $2 and o_c_id = $3 order by o_id desc limit 1\
            """,
            warehouse(),
            district(),
            customer());
    if (missing != 0) {
      throw new AssertionError("an order was seen without " + missing + " of its lines");
    }
  }

  private void stockLevel(Transaction transaction) {
    number(
        transaction,
        """
        select count(distinct s_i_id) from district
        join order_line on ol_w_id = d_w_id and ol_d_id = d_id and ol_o_id between d_next_o_id - 20 and d_next_o_id - 1
        join stock on s_w_id = d_w_id and s_i_id = ol_i_id
        where d_w_id = $1 and d_id = $2 and s_quantity < $3\
        """,
        warehouse(),
        district(),
        10L + random.nextInt(11));
  }

  private long warehouse() {
    return 1L + random.nextInt(OrderEntry.WAREHOUSES);
  }

  private long district() {
    return 1L + random.nextInt(OrderEntry.DISTRICTS);
  }

  private long customer() {
    return 1L + random.nextInt(OrderEntry.CUSTOMERS);
  }

  private PreparedStatement statement(String sql) {
    return statements.computeIfAbsent(sql, session::prepare);
  }

  private long update(Transaction transaction, String sql, Object... values) {
    PreparedStatement statement = statement(sql);
    return transaction.update(statement, statement.parameters().addRow(values));
  }

  /// Changes one row.
  private void change(Transaction transaction, String sql, Object... values) {
    long changed = update(transaction, sql, values);
    if (changed != 1) {
      throw new AssertionError(changed + " rows were changed: " + sql);
    }
  }

  private long number(Transaction transaction, String sql, Object... values) {
    Long number = numberIfAny(transaction, sql, values);
    if (number == null) {
      throw new AssertionError("no row: " + sql);
    }
    return number;
  }

  private @Nullable Long numberIfAny(Transaction transaction, String sql, Object... values) {
    PreparedStatement statement = statement(sql);
    try (Rows rows = transaction.query(statement, statement.parameters().addRow(values))) {
      Long number = rows.next() ? rows.getLong(0) : null;
      while (rows.next()) {
        throw new AssertionError("more than one row: " + sql);
      }
      return number;
    }
  }
}
