package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.application.ListedApplications;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.testsupport.Await;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Tables and queues as applications use them, in transactions of the platform.
final class CallAccessTest {
  @TempDir Path directory;
  private final ListedApplications applications = new ListedApplications();
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = TestEngine.withApplications(directory, ListQueues::new, () -> applications);
    engine.query(
        "create table orders (id int8 primary key, customer text not null, total numeric(10, 2),"
            + " twice numeric generated always as (total * 2) stored, note text default 'none')");
    engine.query("create index orders_customer on orders (customer, total desc)");
    engine.query(
        "insert into orders values (1, 'ann', 10.5), (2, 'bob', 20), (3, 'ann', 30), (4, 'cy', 1)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private DirectTransaction begin(String isolation) {
    return applications.host().begin("test", isolation);
  }

  private static List<String> all(DirectTable.Rows rows) {
    List<String> texts = new ArrayList<>();
    try (rows) {
      for (@Nullable Object[] row = rows.next(); row != null; row = rows.next()) {
        texts.add(Arrays.toString(row));
      }
    }
    return texts;
  }

  @Test
  void shouldFindRowsByTheirKey() {
    DirectTransaction transaction = begin("READ COMMITTED");
    DirectTable orders = transaction.table("orders");
    assertEquals(List.of("id"), orders.key());
    assertEquals(
        List.of("id", "customer", "total", "twice", "note"),
        orders.columns().stream().map(DirectTable.Column::name).toList());
    assertTrue(orders.columns().get(3).generated());
    assertTrue(orders.columns().get(1).notNull());
    assertEquals(
        "[1, ann, 10.50, 21.00, none]", Arrays.toString(orders.find(new Object[] {1L}, false)));
    assertNull(orders.find(new Object[] {9L}, false));
    orders.select(List.of("total", "id"));
    assertEquals("[20.00, 2]", Arrays.toString(orders.find(new Object[] {2}, true)));
    engine.query("update orders set total = 11 where id = 1");
    assertEquals("[11.00, 1]", Arrays.toString(orders.find(new Object[] {1}, false)));
    transaction.commit();
  }

  @Test
  void shouldKeepItsSnapshot() {
    DirectTransaction transaction = begin("repeatable read");
    DirectTable orders = transaction.table("public.orders");
    assertNotNull(orders.find(new Object[] {1L}, false));
    engine.query("delete from orders where id in (1, 2)");
    assertNotNull(orders.find(new Object[] {2L}, false));
    assertEquals(4, all(orders.all()).size());
    TestEngine.assertState("40001", () -> orders.delete(new Object[] {2L}));
    transaction.rollback();
  }

  @Test
  void shouldWriteAndReadItsOwnWrites() {
    DirectTransaction transaction = begin("SERIALIZABLE");
    DirectTable orders = transaction.table("orders");
    orders.select(List.of("id", "customer", "total", "twice"));
    orders.insert(new Object[] {5L, "dee", new BigDecimal("7"), null});
    assertEquals("[5, dee, 7.00, 14.00]", Arrays.toString(orders.find(new Object[] {5L}, false)));
    assertTrue(orders.update(new @Nullable Object[] {5L, "eve", null, null}));
    assertFalse(orders.update(new Object[] {99L, "x", BigDecimal.ONE, null}));
    assertEquals("[5, eve, null, null]", Arrays.toString(orders.find(new Object[] {5L}, false)));
    assertTrue(orders.delete(new Object[] {1L}));
    assertFalse(orders.delete(new Object[] {1L}));
    assertNull(orders.find(new Object[] {1L}, false));
    assertEquals(List.of("4"), engine.query("select count(*) from orders"));
    transaction.commit();
    assertEquals(
        List.of("2|none", "3|none", "4|none", "5|none"),
        engine.query("select id, note from orders order by id"));
    assertEquals(List.of("[5, eve, null, null, none]"), all5());
  }

  private List<String> all5() {
    DirectTransaction transaction = begin("READ COMMITTED");
    try {
      return all(transaction.table("orders").range(null, new Object[] {5L}, new Object[0]));
    } finally {
      transaction.rollback();
    }
  }

  /// Rows of such a table go to the store without a statement.
  @Test
  void shouldWritePlainTables() throws Exception {
    engine.query(
        "create table plain (a int4, b text, n numeric(6, 1) not null, d text, primary key (b, a))");
    engine.query("create unique index plain_d on plain (d)");
    DirectTransaction transaction = begin("READ COMMITTED");
    DirectTable plain = transaction.table("plain");
    plain.insert(new Object[] {1, "x", new BigDecimal("1.26"), "one"});
    plain.insert(new @Nullable Object[] {2, "x", new BigDecimal("2"), null});
    plain.insert(new @Nullable Object[] {3, "x", new BigDecimal("3"), null});
    assertEquals("[1, x, 1.3, one]", Arrays.toString(plain.find(new Object[] {"x", 1}, false)));
    transaction.savepoint();
    TestEngine.assertState(
        "23505", () -> plain.insert(new Object[] {1, "x", BigDecimal.ONE, "two"}));
    TestEngine.assertState(
        "23505", () -> plain.insert(new Object[] {9, "x", BigDecimal.ONE, "one"}));
    TestEngine.assertState(
        "23502", () -> plain.insert(new @Nullable Object[] {9, "x", null, "nine"}));
    TestEngine.assertState(
        "22003", () -> plain.insert(new Object[] {9, "x", new BigDecimal("1e9"), "nine"}));
    TestEngine.assertState(
        "42804", () -> plain.insert(new Object[] {9, 9, BigDecimal.ONE, "nine"}));
    TestEngine.assertState(
        "23502", () -> plain.update(new @Nullable Object[] {1, "x", null, "one"}));
    assertTrue(plain.update(new @Nullable Object[] {1, "x", new BigDecimal("7"), null}));
    assertEquals("[1, x, 7.0, null]", Arrays.toString(plain.find(new Object[] {"x", 1}, false)));
    assertTrue(plain.delete(new Object[] {"x", 3}));
    transaction.rollbackToSavepoint();
    assertNotNull(plain.find(new Object[] {"x", 3}, false));
    assertFalse(plain.update(new Object[] {8, "x", BigDecimal.ONE, "y"}));
    assertFalse(plain.delete(new Object[] {"x", 8}));
    plain.select(List.of("d", "a", "b"));
    assertTrue(plain.update(new Object[] {"uno", 1, "x"}));
    transaction.commit();
    assertEquals(
        List.of("1|x|1.3|uno", "2|x|2.0|NULL", "3|x|3.0|NULL"),
        engine.query("select a, b, n, d from plain order by a"));
    assertEquals(List.of("1"), engine.query("select a from plain where d = 'uno'"));
  }

  @Test
  void shouldFreeWhatTheValuesOfACallTook() {
    engine.query("create table plain (id int8 primary key, note text)");
    engine.query("insert into plain values (1, 'one')");
    int calls = 100;
    long mostOfACall = 1 << 10;
    changeNote(0);
    long before = VarHeap.heldBytes();
    for (int i = 1; i <= calls; i++) {
      changeNote(i);
    }
    long held = VarHeap.heldBytes() - before;
    assertTrue(held < calls * mostOfACall, "held: " + held);
    assertEquals(List.of("note 100"), engine.query("select note from plain"));
  }

  private void changeNote(int number) {
    DirectTransaction transaction = begin("READ COMMITTED");
    DirectTable plain = transaction.table("plain");
    assertNotNull(plain.find(new Object[] {1L}, false));
    assertTrue(plain.update(new Object[] {1L, "note " + number}));
    transaction.commit();
  }

  @Test
  void shouldWaitForWhoChangesTheSameRow() throws Exception {
    engine.query("create table plain (a int4 primary key, n int8)");
    engine.query("insert into plain values (1, 10)");
    DirectTransaction first = begin("READ COMMITTED");
    assertTrue(first.table("plain").update(new Object[] {1, 11L}));
    DirectTransaction second = begin("READ COMMITTED");
    CompletableFuture<Boolean> updated = new CompletableFuture<>();
    Thread thread =
        Thread.startVirtualThread(
            () -> updated.complete(second.table("plain").update(new Object[] {1, 12L})));
    Await.until(
        "somebody waits", () -> !engine.query("select * from kakehashi_catalog.waits").isEmpty());
    first.commit();
    assertTrue(updated.get(30, TimeUnit.SECONDS));
    thread.join();
    second.commit();
    assertEquals(List.of("12"), engine.query("select n from plain"));
    DirectTransaction third = begin("SERIALIZABLE");
    assertNotNull(third.table("plain").find(new Object[] {1}, false));
    engine.query("update plain set n = 13");
    TestEngine.assertState("40001", () -> third.table("plain").update(new Object[] {1, 14L}));
    third.rollback();
  }

  @Test
  void shouldGiveRangesInTheOrderOfTheIndex() {
    DirectTransaction transaction = begin("READ COMMITTED");
    DirectTable orders = transaction.table("orders");
    orders.select(List.of("id"));
    Object[] none = {};
    Object[] ann = {"ann"};
    assertEquals(List.of("[3]", "[1]"), all(orders.range("orders_customer", ann, ann)));
    assertEquals(
        List.of("[1]", "[2]"),
        all(
            orders.range(
                "orders_customer",
                new Object[] {"ann", new BigDecimal("10.5")},
                new Object[] {"bob"})));
    assertEquals(
        List.of("[2]", "[4]"), all(orders.range("orders_customer", new Object[] {"b"}, none)));
    assertEquals(List.of("[1]", "[2]", "[3]"), all(orders.range(null, none, new Object[] {3})));
    assertEquals(
        List.of("[3]", "[1]", "[2]", "[4]"), all(orders.range("orders_customer", none, none)));
    TestEngine.assertState("42704", () -> orders.range("nothing", none, none));
    transaction.commit();
  }

  @Test
  void shouldReadRowsWhileItWrites() {
    engine.query("insert into orders select g, 'many', g from generate_series(1000, 60000) g");
    DirectTransaction transaction = begin("READ COMMITTED");
    DirectTable orders = transaction.table("orders");
    orders.select(List.of("id", "customer"));
    long sum = 0;
    try (DirectTable.Rows rows =
        orders.range("orders_customer", new Object[] {"many"}, new Object[] {"many"})) {
      for (@Nullable Object[] row = rows.next(); row != null; row = rows.next()) {
        sum++;
        if (sum % 10_000 == 0) {
          orders.insert(new Object[] {100_000 + sum, "many"});
        }
      }
    }
    assertEquals(59_001, sum);
    try (DirectTable.Rows left = orders.all()) {
      assertNotNull(left.next());
    }
    transaction.commit();
    assertEquals(
        List.of("59006"), engine.query("select count(*) from orders where customer = 'many'"));
  }

  @Test
  void shouldRunStatements() {
    DirectTransaction transaction = begin("READ COMMITTED");
    List<String> seen = new ArrayList<>();
    long given =
        transaction.execute(
            "select id, customer from orders where id > $1 order by id",
            new Object[] {2},
            (columns, values) -> seen.add(columns.get(0).name() + "=" + Arrays.toString(values)));
    assertEquals(2, given);
    assertEquals(List.of("id=[3, ann]", "id=[4, cy]"), seen);
    assertEquals(
        2,
        transaction.execute(
            "update orders set note = 'x' where customer = $1", new Object[] {"ann"}, null));
    transaction.execute("create table made (a int primary key)", new Object[0], null);
    transaction.table("made").insert(new Object[] {7});
    assertEquals("[7]", Arrays.toString(transaction.table("made").find(new Object[] {7}, false)));
    TestEngine.assertState(
        "25001", () -> transaction.execute("set time zone 'UTC'", new Object[0], null));
    transaction.commit();
    assertEquals(List.of("7"), engine.query("select a from made"));
    TestEngine.assertState(
        "42P02", () -> begin("READ COMMITTED").execute("select $1::int", new Object[0], null));
  }

  @Test
  void shouldUndoToSavepoints() {
    DirectTransaction transaction = begin("READ COMMITTED");
    DirectTable orders = transaction.table("orders");
    assertTrue(orders.delete(new Object[] {1L}));
    transaction.savepoint();
    assertTrue(orders.delete(new Object[] {2L}));
    transaction.savepoint();
    assertTrue(orders.delete(new Object[] {3L}));
    transaction.releaseSavepoint();
    transaction.rollbackToSavepoint();
    assertNotNull(orders.find(new Object[] {2L}, false));
    TestEngine.assertState("3B001", transaction::releaseSavepoint);
    TestEngine.assertState(
        "23505", () -> orders.insert(new @Nullable Object[] {2L, "x", null, null, null}));
    transaction.commit();
    assertEquals(List.of("2", "3", "4"), engine.query("select id from orders order by id"));
  }

  @Test
  void shouldEnqueueAndCompleteWithTheTransaction() throws Exception {
    engine.query("create queue mail");
    engine.awaitDurable();
    Payload payload = new Payload(true, "{\"a\": 1}".getBytes(StandardCharsets.UTF_8));
    DirectTransaction undone = begin("READ COMMITTED");
    undone.enqueue("mail", task(payload));
    undone.rollback();
    DirectTransaction transaction = begin("READ COMMITTED");
    transaction.enqueue("mail", task(payload));
    TestEngine.assertState("42704", () -> transaction.enqueue("nothing", task(payload)));
    transaction.commit();
    engine.awaitDurable();
    List<LeasedTask> come =
        applications.host().receive("test", "mail", "", 10, 0, TimeUnit.SECONDS.toNanos(30));
    assertEquals(1, come.size());
    String token = come.getFirst().token().text();
    applications.host().extend(token, 60_000);
    DirectTransaction failing = begin("READ COMMITTED");
    failing.complete(token);
    failing.rollback();
    DirectTransaction completing = begin("READ COMMITTED");
    completing.complete(token);
    completing.commit();
    engine.awaitDurable();
    assertEquals(List.of(), applications.host().receive("test", "mail", "", 10, 0, 0));
    TestEngine.assertState("42704", () -> applications.host().receive("test", "no", "", 1, 0, 0));
  }

  private static NewTask task(Payload payload) {
    return new NewTask(payload, null, null, 0, 0, null, 0);
  }

  @Test
  void shouldTakePartInATransactionOfOthers() {
    EngineTransaction others = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    others.reference(77);
    engine.engine.transactionTokens(
        (user, token) -> token.equals("of " + user) ? OptionalLong.of(77) : OptionalLong.empty());
    engine.run(others, "delete from orders where id = 1");
    try (ApplicationHost.JoinedAccess joined = applications.host().join("test", "of test")) {
      assertNull(joined.table("orders").find(new Object[] {1L}, false));
      assertTrue(joined.table("orders").delete(new Object[] {2L}));
    }
    assertEquals(List.of("2"), engine.run(others, "select count(*) from orders").rows());
    engine.commit(others);
    assertEquals(List.of("2"), engine.query("select count(*) from orders"));
    TestEngine.assertState("25P01", () -> applications.host().join("other", "of test"));
    TestEngine.assertState("25P01", () -> applications.host().join("test", "of test"));
  }

  @Test
  void shouldHaveTheRightsOfItsUser() {
    engine.query("create role clerk");
    DirectTransaction transaction = applications.host().begin("clerk", "READ COMMITTED");
    DirectTable orders = transaction.table("orders");
    TestEngine.assertState("42501", () -> orders.find(new Object[] {1L}, false));
    TestEngine.assertState("42501", orders::all);
    TestEngine.assertState(
        "42501", () -> orders.insert(new @Nullable Object[] {9L, "x", null, null, null}));
    transaction.rollback();
    engine.query("grant select (id, note) on orders to clerk");
    DirectTransaction next = applications.host().begin("clerk", "READ COMMITTED");
    DirectTable again = next.table("orders");
    again.select(List.of("note"));
    assertEquals("[none]", Arrays.toString(again.find(new Object[] {1L}, false)));
    again.select(List.of("customer"));
    TestEngine.assertState("42501", () -> again.find(new Object[] {1L}, false));
    next.commit();
  }

  @Test
  void shouldEndWhatIsCanceled() throws Exception {
    DirectTransaction blocking = begin("READ COMMITTED");
    assertTrue(blocking.table("orders").delete(new Object[] {1L}));
    DirectTransaction waiting = begin("READ COMMITTED");
    CompletableFuture<String> state = new CompletableFuture<>();
    Thread thread =
        Thread.startVirtualThread(() -> {
          try {
            boolean gone = waiting.table("orders").delete(new Object[] {1L});
            state.complete("deleted " + gone);
          } catch (EngineException e) {
            state.complete(e.code().sqlstate());
          }
        });
    Await.until(
        "somebody waits", () -> !engine.query("select * from kakehashi_catalog.waits").isEmpty());
    waiting.cancel();
    assertEquals("57014", state.get(30, TimeUnit.SECONDS));
    thread.join();
    TestEngine.assertState("57014", () -> waiting.table("orders").find(new Object[] {1L}, false));
    waiting.rollback();
    blocking.rollback();
    assertEquals(List.of("4"), engine.query("select count(*) from orders"));
    TestEngine.assertState("25P01", blocking::commit);
  }

  @Test
  void shouldEndWithTheEngine() {
    DirectTransaction open = begin("READ COMMITTED");
    assertTrue(open.table("orders").delete(new Object[] {1L}));
    engine.close();
    TestEngine.assertState("57014", open::commit);
    open.rollback();
    engine = new TestEngine(directory);
    assertEquals(List.of("4"), engine.query("select count(*) from orders"));
  }

  @Test
  void shouldFindKeysOfEachKind() {
    engine.query(
        "create table k (a uuid, b text, c timestamptz, d int2, v text, primary key (a, b, c, d))");
    UUID id = new UUID(1, 2);
    Instant at = Instant.parse("2026-01-02T03:04:05Z");
    DirectTransaction transaction = begin("READ COMMITTED");
    DirectTable table = transaction.table("k");
    table.insert(new Object[] {id, "b", at, (short) 3, "here"});
    assertEquals(
        "here", Objects.requireNonNull(table.find(new Object[] {id, "b", at, 3}, false))[4]);
    assertNull(table.find(new Object[] {id, "c", at, 3}, false));
    TestEngine.assertState("42804", () -> table.find(new Object[] {"no", "c", at, 3}, false));
    TestEngine.assertState("22023", () -> table.find(new Object[] {id}, false));
    transaction.commit();
  }
}
