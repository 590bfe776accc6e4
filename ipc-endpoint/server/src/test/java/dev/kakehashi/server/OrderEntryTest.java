package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.IsolationLevel;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// TPC-C's transactions by several clients at once, through kills: its consistency conditions hold afterwards, and what was acknowledged is
/// there. `-Dkakehashi.kills` and `-Dkakehashi.orderEntryCommits` make it as long as one likes.
class OrderEntryTest {
  private static final int CLIENTS = 4;
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 1);
  private static final int COMMITS_IN_A_LIFE =
      Integer.getInteger("kakehashi.orderEntryCommits", 60);

  @ParameterizedTest
  @EnumSource(names = {"READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE"})
  @Timeout(3600)
  void shouldKeepItsConsistencyConditions(IsolationLevel isolation) throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println(isolation + ", seed " + seed);
    try (EndpointProcess endpoint = EndpointProcess.open()) {
      try (Session session = endpoint.attach()) {
        OrderEntry.create(session);
        assertEquals(List.of(), OrderEntry.violations(session));
      }
      ClientLoad load = new ClientLoad(endpoint);
      OrderEntryClient.Counts counts = new OrderEntryClient.Counts();
      TransactionOptions options = TransactionOptions.DEFAULT.withIsolation(isolation);
      for (int client = 0; client < CLIENTS; client++) {
        Random random = new Random(seed + client);
        load.add(
            "terminal" + client,
            session -> new OrderEntryClient(session, options, random, load, counts)::one);
      }
      load.run(
          COMMITS_IN_A_LIFE,
          KILLS,
          () -> Command.run("check", "--quiet", endpoint.dataDirectory().toString()).expect(0));
      try (Session session = endpoint.attach()) {
        assertEquals(List.of(), OrderEntry.violations(session), "seed " + seed);
        long orders =
            OrderEntry.number(
                session, "select count(*) from orders where o_id > " + OrderEntry.FIRST_ORDERS);
        long acknowledged = counts.newOrders().get();
        System.out.printf(
            "%d commits, %d new orders, %d refusals%n",
            load.commits(), orders, counts.refusals().get());
        // One of each client may have been stored by an endpoint that died before it said so.
        assertTrue(
            acknowledged <= orders && orders <= acknowledged + (long) CLIENTS * KILLS,
            "%d orders, %d acknowledged, seed %d".formatted(orders, acknowledged, seed));
        shouldNotice(session, "update warehouse set w_ytd = w_ytd + 0.01 where w_id = 1", 2);
        shouldNotice(session, "delete from order_line where ol_number = 5 and ol_o_id = 1", 2);
      }
    }
  }

  /// The conditions can fail.
  private static void shouldNotice(Session session, String change, int conditions) {
    int before = OrderEntry.violations(session).size();
    session.execute(change);
    assertEquals(before + conditions, OrderEntry.violations(session).size(), change);
  }
}
