package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Procedure;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// An application through HTTP and shared memory: it is deployed, its procedures are called, its routes answer.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before each test
class ApplicationDoorsTest {
  private static final String SOURCE =
      """
      package shop;
      import dev.kakehashi.application.*;
      import java.math.BigDecimal;
      import java.util.List;
      public final class Shop implements Application {
        record Order(long id, String customer, BigDecimal unitPrice) {}
        record Key(long id) {}
        record Page(long from, Integer most) {}
        record Count(long orders) {}
        sealed interface Found permits Here, Nothing {}
        record Here(String customer, BigDecimal unitPrice) implements Found {}
        record Nothing(String why) implements Found {}
        record Placed(long id%s) {}
        public void define(Definitions it) {
          it.function("doubled", Long.class, Long.class, v -> 2 * v).immutable().strict();
          it.procedure("place", Order.class, Placed.class, this::place);
          it.procedure("nothing", Void.class, Void.class, (call, none) -> null);
          it.procedure("place_alone", Order.class, Placed.class, this::place)
              .transaction(TransactionMode.OWN);
          it.route(HttpMethod.POST, "/orders", Order.class, Placed.class, this::place)
              .transaction(TransactionMode.REQUIRED).status(Placed.class, 201);
          it.route(HttpMethod.GET, "/orders/{id}", Key.class, Found.class, this::find)
              .status(Nothing.class, 404);
          it.route(HttpMethod.GET, "/orders", Page.class, Count.class, this::count);
          it.route(HttpMethod.DELETE, "/orders/{id}", Key.class, Void.class, this::remove);
          it.route(HttpMethod.GET, "/broken", Void.class, Void.class, (call, none) -> { throw new IllegalStateException("broken"); });
          it.procedure("breaks", Key.class, Key.class, (call, key) -> {
            if (key.id() > 0) throw new IllegalStateException("broken");
            return key;
          });
          it.rowsProcedure("breaks_late", Key.class, Key.class, (call, key) ->
            java.util.stream.LongStream.rangeClosed(1, key.id()).mapToObj(i -> {
              if (i == 100_000) throw new IllegalStateException("broken");
              return new Key(i);
            }));
        }
        Placed place(Call call, Order order) {
          if (order.unitPrice() != null && order.unitPrice().signum() < 0) {
            throw new ApplicationException("22023", "a price is not negative");
          }
          call.execute("insert into orders values ($1, $2, $3)", order.id(), order.customer(), order.unitPrice());
          return new Placed(order.id()%s);
        }
        Found find(Call call, Key key) {
          List<Here> rows = call.query("select customer, unit_price from orders where id = $1", Here.class, key.id());
          return rows.isEmpty() ? new Nothing("no order " + key.id()) : rows.get(0);
        }
        Count count(Call call, Page page) {
          return call.query("select least(count(*), $2) as orders from orders where id >= $1", Count.class,
              page.from(), page.most() == null ? 1000L : (long) page.most()).get(0);
        }
        Void remove(Call call, Key key) {
          call.execute("delete from orders where id = $1", key.id());
          return null;
        }
      }
      """;
  private static final String JSON = "Content-Type: application/json";
  private static final String JAR = "Content-Type: application/java-archive";
  private static final int[] ORDER = {TypeOid.INT8, TypeOid.TEXT, TypeOid.NUMERIC};
  private static byte[] first;
  private static byte[] second;
  private static HttpFixture door;
  private HttpConnection alice;
  private Session session;

  @BeforeAll
  static void start() throws IOException {
    first = ShopJar.of(SOURCE.formatted("", ""));
    second = ShopJar.of(SOURCE.formatted(", String note", ", \"well\""));
    door = HttpFixture.start();
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @BeforeEach
  void deploy() throws IOException {
    alice = door.alice();
    session = door.attach("alice");
    session.execute("create table orders (id int8 primary key, customer text, unit_price numeric)");
    put(first).expect(201);
  }

  @AfterEach
  void drop() {
    session.execute("drop application if exists shop cascade");
    session.execute("drop table orders");
  }

  private HttpAnswer put(byte[] jar) throws IOException {
    return alice.send("PUT /v1/applications/shop?max_calls=50", jar, JAR).answer();
  }

  private HttpAnswer post(String path, String body, String... fields) throws IOException {
    String[] all = java.util.Arrays.copyOf(fields, fields.length + 1);
    all[fields.length] = JSON;
    return alice.send("POST " + path, body.getBytes(StandardCharsets.UTF_8), all).answer();
  }

  private long orders() {
    try (PreparedStatement count = session.prepare("select count(*) from orders");
        Rows rows = session.query(count)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  // ---- shared memory ----

  @Test
  void shouldCallProceduresWithoutAStatement() {
    Procedure place = session.procedure("place", ORDER);
    for (long id = 1; id <= 3; id++) {
      try (Rows rows = place.call(id, "ann", new java.math.BigDecimal("1.50"))) {
        assertEquals("id", rows.columns().getFirst().name());
        assertTrue(rows.next());
        assertEquals(id, rows.getLong(0));
        assertFalse(rows.next());
      }
    }
    assertEquals(3, orders());
    Procedure nothing = session.procedure("public.nothing");
    for (int i = 0; i < 2; i++) {
      try (Rows rows = nothing.call()) {
        assertFalse(rows.next());
        assertEquals(List.of(), rows.columns());
      }
    }
  }

  @Test
  void shouldRefuseWhatIsNoCall() {
    assertEquals(
        "42883",
        assertThrows(EndpointException.class, () -> session.procedure("missing").call())
            .sqlstate());
    assertEquals(
        "42602",
        assertThrows(
                EndpointException.class, () -> session.procedure("a(); drop table orders").call())
            .sqlstate());
    assertEquals(
        "22023",
        assertThrows(
                EndpointException.class,
                () ->
                    session
                        .procedure("place", ORDER)
                        .call(1L, "x", new java.math.BigDecimal(-1))
                        .next())
            .sqlstate());
    assertEquals(0, orders());
  }

  @Test
  void shouldCallWithinATransaction() {
    Procedure place = session.procedure("place", ORDER);
    try (Transaction transaction = session.begin()) {
      try (Rows rows = transaction.call(place, 7L, "bob", null)) {
        assertTrue(rows.next());
      }
      transaction.rollback();
    }
    assertEquals(0, orders());
    try (Transaction transaction = session.begin()) {
      Procedure alone = session.procedure("place_alone", ORDER);
      assertEquals(
          "25001",
          assertThrows(
                  EndpointException.class, () -> transaction.call(alone, 7L, "bob", null).next())
              .sqlstate());
    }
    assertEquals(1, session.procedure("place_alone", ORDER).run(8L, "bob", null));
    assertEquals(1, orders());
  }

  @Test
  void shouldContinueATransactionOfAnotherSession() {
    Session other = door.attach("alice");
    Procedure here = session.procedure("place", ORDER);
    Procedure there = other.procedure("place", ORDER);
    Transaction transaction = session.begin();
    assertEquals(1, rows(transaction, here, 31));
    Transaction same = other.continueTransaction(transaction.token());
    assertEquals(1, rows(same, there, 32));
    // Each sees what the other one has done.
    assertEquals("23505", failure(transaction, here, 32).sqlstate());
    assertEquals(1, rows(same, there, 33));
    transaction.rollback();
    assertEquals(0, orders());
    Transaction next = session.begin();
    assertEquals(1, rows(next, here, 34));
    Transaction joined = other.continueTransaction(next.token());
    assertEquals(1, rows(joined, there, 35));
    joined.commit();
    assertEquals(2, orders());
    EndpointException gone =
        assertThrows(EndpointException.class, () -> other.continueTransaction(next.token()));
    assertEquals("25P01", gone.sqlstate());
  }

  private static int rows(Transaction transaction, Procedure procedure, long id) {
    try (Rows rows = transaction.call(procedure, id, "x", null)) {
      int count = 0;
      while (rows.next()) {
        count++;
      }
      return count;
    }
  }

  private static EndpointException failure(Transaction transaction, Procedure procedure, long id) {
    return assertThrows(EndpointException.class, () -> rows(transaction, procedure, id));
  }

  @Test
  void shouldNoticeThatAProcedureReturnsOtherColumns() throws IOException {
    Procedure place = session.procedure("place", ORDER);
    assertEquals(1, place.run(1L, "ann", null));
    put(second).expect(200);
    try (Rows rows = place.call(2L, "ann", null)) {
      assertTrue(rows.next());
      assertEquals(2, rows.columns().size());
      assertEquals("well", rows.getString(1));
    }
    assertEquals(2, orders());
  }

  // ---- routes ----

  @Test
  void shouldTellWhatNobodyReads() {
    Procedure breaks = session.procedure("breaks", new int[] {TypeOid.INT8});
    for (long id : new long[] {1, 0, 1}) { // with columns that are unknown, and known
      if (id == 0) {
        breaks.call(id).close();
      } else {
        EndpointException e = assertThrows(EndpointException.class, () -> breaks.call(id).close());
        assertEquals("P0001", e.sqlstate());
      }
    }
    Procedure late = session.procedure("breaks_late", new int[] {TypeOid.INT8});
    late.call(99_999L).close();
    assertEquals(
        "P0001",
        assertThrows(EndpointException.class, () -> late.call(100_000L).close()).sqlstate());
    Rows rows = late.call(100_000L);
    rows.cancel();
    rows.close();
  }

  @Test
  void shouldTakeTheBlameForExceptions() throws IOException {
    HttpAnswer broken = alice.get("/v1/apps/shop/broken");
    broken.expect(500);
    assertTrue(broken.text().contains("P0001"), broken.text());
    assertTrue(broken.text().contains("IllegalStateException: broken"), broken.text());
    post("/v1/apps/shop/orders", "{\"id\": 9, \"customer\": \"x\", \"unitPrice\": -1}", JSON)
        .expect(422);
  }

  @Test
  void shouldAnswerByRoutes() throws IOException {
    JsonNode placed =
        post("/v1/apps/shop/orders", "{\"id\": 5, \"customer\": \"ann\", \"unitPrice\": 2.50}")
            .expect(201)
            .json();
    assertEquals("{\"id\":5}", placed.toString());
    JsonNode found = alice.get("/v1/apps/shop/orders/5").expect(200).json();
    assertEquals("Here", found.path("kind").asText());
    assertEquals("ann", found.path("customer").asText());
    assertEquals(2.5, found.path("unit_price").asDouble());
    JsonNode missing = alice.get("/v1/apps/shop/orders/6").expect(404).json();
    assertEquals("no order 6", missing.path("why").asText());
    assertEquals(
        1, alice.get("/v1/apps/shop/orders?from=0").expect(200).json().path("orders").asInt());
    assertEquals(
        0,
        alice.get("/v1/apps/shop/orders?from=0&most=0").expect(200).json().path("orders").asInt());
    alice.delete("/v1/apps/shop/orders/5").expect(204);
    assertEquals(0, orders());
  }

  @Test
  void shouldRefuseArgumentsThatDoNotFit() throws IOException {
    post("/v1/apps/shop/orders", "{\"customer\": \"ann\"}").expect(400);
    post("/v1/apps/shop/orders", "{\"id\": 1, \"wrong\": 2}").expect(400);
    post("/v1/apps/shop/orders", "{\"id\": 1, \"unit_price\": 1, \"unitPrice\": 2}").expect(400);
    post("/v1/apps/shop/orders", "[1]").expect(400);
    alice.get("/v1/apps/shop/orders?since=1").expect(400);
    alice.get("/v1/apps/shop/customers").expect(404);
    alice.delete("/v1/apps/shop/orders").expect(405);
    assertEquals(0, orders());
  }

  @Test
  void shouldRunRoutesInTheTransactionThatIsNamed() throws IOException {
    HttpAnswer answer =
        post("/v1/apps/shop/orders", "{\"id\": 9}", HttpConnection.within("begin")).expect(201);
    String handle = answer.handle();
    assertEquals(0, orders());
    post("/v1/apps/shop/orders", "{\"id\": 10}", HttpConnection.ending(handle)).expect(201);
    assertEquals(2, orders());
  }

  // ---- deployment ----

  @Test
  void shouldShowVersionsAndGoBackToOne() throws IOException {
    assertEquals(1, versions());
    put(second).expect(200);
    assertEquals(2, versions());
    assertEquals(
        "well",
        post("/v1/apps/shop/orders", "{\"id\": 1}").expect(201).json().path("note").asText());
    alice.post("/v1/applications/shop/versions/1/use").expect(204);
    assertEquals(
        "{\"id\":2}", post("/v1/apps/shop/orders", "{\"id\": 2}").expect(201).json().toString());
    JsonNode shop = alice.get("/v1/applications/shop").expect(200).json().path("rows").path(0);
    assertEquals(1, shop.path("version").asInt());
    assertEquals(50, shop.path("max_calls").asInt());
    alice.get("/v1/applications/none").expect(404);
  }

  private int versions() throws IOException {
    return alice.get("/v1/applications/shop/versions").expect(200).json().path("rows").size();
  }

  @Test
  void shouldForgetTheRoutesOfWhatIsDropped() throws IOException {
    alice.delete("/v1/applications/shop").expect(204);
    alice.get("/v1/apps/shop/orders?from=0").expect(404);
    alice.delete("/v1/applications/shop").expect(404);
  }

  @Test
  void shouldShowHowCallsHaveFailed() throws IOException {
    HttpAnswer failed = post("/v1/apps/shop/orders", "{\"id\": 1, \"unitPrice\": -1}");
    assertEquals("22023", failed.json().path("sqlstate").asText(), failed.toString());
    JsonNode rows = alice.get("/v1/applications/shop/errors").expect(200).json().path("rows");
    assertTrue(rows.size() > 0, rows::toString);
    assertTrue(
        rows.path(rows.size() - 1).path("stack").asText().contains("shop.Shop"), rows::toString);
  }
}
