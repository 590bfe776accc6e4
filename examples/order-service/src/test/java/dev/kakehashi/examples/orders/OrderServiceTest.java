package dev.kakehashi.examples.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.examples.orders.OrderService.Order;
import dev.kakehashi.testkit.KakehashiExtension;
import dev.kakehashi.testkit.TestPlatform;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class OrderServiceTest {
  @RegisterExtension static final KakehashiExtension KAKEHASHI = kakehashi();

  /// A row of `place`.
  private record Placed(
      String kind, @Nullable Long id, @Nullable BigDecimal total, @Nullable String why) {}

  private final TestPlatform platform = KAKEHASHI.platform();

  private static KakehashiExtension kakehashi() {
    KakehashiExtension.Builder builder = KakehashiExtension.builder();
    for (String statement : schema().replaceAll("--[^\n]*", "").split(";", -1)) {
      if (!statement.isBlank()) {
        builder.sql(statement);
      }
    }
    return builder.application("shop", OrderService.class).build();
  }

  private static String schema() {
    try {
      return Files.readString(Path.of("schema.sql"));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @BeforeEach
  void fill() {
    for (String table : List.of("mail_sent", "orders", "customer", "product")) {
      platform.execute("DELETE FROM " + table);
    }
    platform.execute("INSERT INTO product VALUES (1, 'bridge', 12.50, 10)");
    platform.execute("INSERT INTO customer VALUES ('anna', 'anna@example.com')");
  }

  private int stock() {
    return platform.query("SELECT stock FROM product WHERE id = 1", Integer.class).getFirst();
  }

  private Placed place(long id, String customer, int quantity) {
    return platform.call("place", Placed.class, id, customer, 1L, quantity).getFirst();
  }

  @Test
  void shouldPlaceAndCancelAnOrder() {
    assertEquals(new Placed("Done", 1L, new BigDecimal("25.00"), null), place(1, "anna", 2));
    assertEquals(8, stock());
    assertEquals("Refused", place(1, "anna", 2).kind());
    assertEquals("there is no customer otto", place(2, "otto", 1).why());
    assertEquals("there are not 9 of 1", place(2, "anna", 9).why());
    Order canceled = platform.call("cancel_order", Order.class, 1L).getFirst();
    assertEquals("canceled", canceled.state());
    assertEquals(10, stock());
    assertEquals(List.of(canceled), platform.call("orders_of", Order.class, "anna"));
    EndpointException none =
        assertThrows(
            EndpointException.class, () -> platform.call("cancel_order", Order.class, 77L));
    assertEquals("P0002", none.sqlstate());
  }

  @Test
  void shouldTakePartInTheCallersTransaction() {
    try (Session session = platform.attach("tester")) {
      try (Transaction transaction = session.begin();
          PreparedStatement call = session.prepare("CALL place(5, 'anna', 1, 3)")) {
        try (Rows rows = transaction.query(call)) {
          assertTrue(rows.next());
        }
        transaction.rollback();
      }
      assertEquals(10, stock());
      try (Transaction transaction = session.begin();
          PreparedStatement call = session.prepare("CALL place(5, 'anna', 1, 3)")) {
        try (Rows rows = transaction.query(call)) {
          assertTrue(rows.next());
        }
        transaction.commit();
      }
      assertEquals(7, stock());
    }
  }

  @Test
  void shouldServeHttp() {
    String order = "{\"id\": 3, \"customer\": \"anna\", \"product\": 1, \"quantity\": 1}";
    HttpResponse<String> placed = platform.http("POST", "/v1/apps/shop/orders", order);
    assertEquals(201, placed.statusCode(), placed.body());
    assertEquals(409, platform.http("POST", "/v1/apps/shop/orders", order).statusCode());
    HttpResponse<String> read = platform.http("GET", "/v1/apps/shop/orders/3", null);
    assertEquals(200, read.statusCode(), read.body());
    assertTrue(read.body().contains("\"customer\":\"anna\""), read.body());
  }

  @Test
  void shouldMailOnceForEachOrder() throws InterruptedException {
    for (long id = 10; id < 15; id++) {
      assertEquals("Done", place(id, "anna", 1).kind());
    }
    // The handler runs by itself, as somebody who waits for a mail does not know when.
    // Mails of orders of the other tests may still come.
    while (mails("count(*)") < 5) {
      Thread.sleep(5);
    }
    assertEquals(5, mails("count(DISTINCT order_id)"));
  }

  private long mails(String count) {
    return platform
        .query("SELECT " + count + " FROM mail_sent WHERE order_id BETWEEN 10 AND 14", Long.class)
        .getFirst();
  }

  @Test
  void shouldNeverSellMoreThanThereIs() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<Integer>> sold = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        sold.add(threads.submit(buyer(100 + 100L * i)));
      }
      int sum = 0;
      for (Future<Integer> one : sold) {
        sum += one.get();
      }
      assertEquals(10, sum);
    }
    assertEquals(0, stock());
  }

  /// Buys one at a time until there is none.
  private Callable<Integer> buyer(long firstId) {
    return () -> {
      int bought = 0;
      try (Session session = platform.attach("tester");
          PreparedStatement call = session.prepare("CALL place_alone($1, 'anna', 1, 1)")) {
        while (bought <= 10) {
          try (Rows rows = session.query(call, call.parameters().addRow(firstId + bought))) {
            assertTrue(rows.next());
            if (rows.getString(0).equals("Refused")) {
              return bought;
            }
          }
          bought++;
        }
        return bought;
      }
    };
  }
}
