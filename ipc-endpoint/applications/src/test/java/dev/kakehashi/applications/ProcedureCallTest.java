package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway") // what is null fails the test
class ProcedureCallTest {
  private static final ApplicationOptions LIMITS =
      new ApplicationOptions(5_000, 10, 1_000, 2, 1, 1 << 20, 1 << 20, 100);

  private final PlatformRig rig = new PlatformRig();
  private LoadedApplication shop;

  @BeforeAll
  void deploy() {
    shop =
        rig.system.load(
            rig.deploy(
                LIMITS,
                UserJar.shop(
                        """
                        it.procedure("place", Order.class, Placed.class, Shop::place);
                        it.procedure("own", Order.class, Void.class, (call, order) -> {
                          call.table("orders", Order.class).put(order); return null;
                        }).transaction(TransactionMode.OWN).isolation(Isolation.SERIALIZABLE);
                        it.procedure("count", Void.class, Integer.class, (call, none) ->
                          (int) call.table("orders", Order.class).all().count());
                        it.procedure("nested", Long.class, Void.class, (call, id) -> {
                          call.inTransaction(Isolation.READ_COMMITTED, inner -> {
                            inner.table("orders", Order.class).insert(new Order(id, "n", BigDecimal.ONE));
                            return null;
                          });
                          return null;
                        }).transaction(TransactionMode.NONE);
                        it.procedure("outside", Void.class, Void.class, (call, none) -> {
                          call.table("orders", Order.class); return null;
                        }).transaction(TransactionMode.NONE);
                        it.procedure("half", Long.class, Void.class, (call, id) -> {
                          TypedTable<Order> orders = call.table("orders", Order.class);
                          orders.insert(new Order(id, "kept", null));
                          try {
                            call.savepoint(() -> {
                              orders.insert(new Order(id + 1, "undone", null));
                              throw new IllegalArgumentException("no");
                            });
                          } catch (IllegalArgumentException e) {
                            call.log(e.getMessage());
                          }
                          return null;
                        });
                        it.rowsProcedure("numbers", Integer.class, Line.class, (call, n) ->
                          IntStream.range(0, n).mapToObj(i -> new Line(i, "x".repeat(i))));
                        it.procedure("long_text", Integer.class, String.class, (call, n) -> "x".repeat(n));
                        it.procedure("wrong_table", Void.class, Void.class, (call, none) -> {
                          call.table("orders", Line.class); return null;
                        });
                        it.procedure("fails", String.class, Void.class, (call, state) -> {
                          if (state.isEmpty()) throw new IllegalStateException("kaputt");
                          throw new ApplicationException(state, "so be it");
                        });
                        it.procedure("check", Void.class, Void.class, (call, none) -> {
                          call.table("orders", Order.class).insert(new Order(-5, "x", new BigDecimal(-1)));
                          return null;
                        });
                        it.procedure("wait", Void.class, Void.class, (call, none) -> { GATE.await(); return null; });
                        it.procedure("open", Void.class, Void.class, (call, none) -> { GATE.countDown(); return null; });
                        it.procedure("sleep", Void.class, Void.class, (call, none) -> { Thread.sleep(100_000); return null; })
                          .timeLimit(Duration.ofMillis(50));
                        it.procedure("query", Void.class, Integer.class, (call, none) ->
                          call.query("SELECT * FROM orders", Order.class).size());
                        it.procedure("leaves_open", Void.class, Integer.class, (call, none) -> {
                          Iterator<Order> orders = call.table("orders", Order.class).all().iterator();
                          return orders.hasNext() ? 1 : 0;
                        });
                        it.procedure("bound", Void.class, String.class, (call, none) ->
                          Call.current().user() + " " + Thread.currentThread().getPriority()).processorBound();
                        """,
                        """
                        static final java.util.concurrent.CountDownLatch GATE = new java.util.concurrent.CountDownLatch(1);
                        record Order(long id, String customer, BigDecimal total) {}
                        record Line(int lineNumber, String text) {}
                        sealed interface Placed {
                          record Done(long id) implements Placed {}
                          record Refused(String why) implements Placed {}
                        }
                        static Placed place(Call call, Order order) {
                          TypedTable<Order> orders = call.table("orders", Order.class);
                          if (orders.find((int) order.id()).isPresent()) {
                            return new Placed.Refused("exists");
                          }
                          orders.insert(order);
                          return new Placed.Done(order.id());
                        }
                        """)
                    .content()));
  }

  @AfterAll
  void close() {
    rig.close();
  }

  private EngineException failure(String procedure, Object... arguments) {
    return rig.call(shop, procedure, arguments).failed();
  }

  @Test
  void shouldGiveARowForEachKindOfResult() {
    assertArrayEquals(
        new Object[] {"Done", 1L, null},
        rig.call(shop, "place", 1L, "ann", null).succeeded().get(0));
    assertArrayEquals(
        new Object[] {"Refused", null, "exists"},
        rig.call(shop, "place", 1L, "bob", null).succeeded().get(0));
  }

  @Test
  void shouldUseTheTransactionOfTheCaller() {
    MemoryHost.Work transaction = rig.host.begin("caller", "READ COMMITTED");
    rig.call(shop, "place", transaction, 50L, "carl", BigDecimal.ONE).succeeded();
    assertNull(rig.host.row(50), "committed by somebody else");
    assertEquals(
        ErrorCode.ACTIVE_TRANSACTION,
        assertThrows(
                EngineException.class,
                () -> rig.call(shop, "own", transaction, 51L, "x", BigDecimal.ONE))
            .code());
    transaction.rollback();
  }

  @Test
  void shouldTryAgainWhenOthersWereFaster() {
    int before = rig.host.conflicts.get();
    int tries = 0;
    // Two at a time: the one that commits second has to be tried again.
    while (rig.host.conflicts.get() == before && tries++ < 200) {
      var one = rig.call(shop, "own", 60L, "a", BigDecimal.ONE);
      var two = rig.call(shop, "own", 61L, "b", BigDecimal.ONE);
      one.succeeded();
      two.succeeded();
    }
    assertEquals("b", rig.host.row(61)[1]);
  }

  @Test
  void shouldUseTheEngineOnlyWithinATransaction() {
    rig.call(shop, "nested", 70L).succeeded();
    assertEquals("n", rig.host.row(70)[1]);
    assertEquals("25P01", failure("outside").sqlstate());
  }

  @Test
  void shouldUndoToASavepoint() {
    rig.call(shop, "half", 80L).succeeded();
    assertEquals("kept", rig.host.row(80)[1]);
    assertNull(rig.host.row(81));
    assertEquals("no", rig.system.log().get(0).line());
  }

  @Test
  void shouldKeepLimitsOfRowsAndBytes() {
    assertEquals(10, rig.call(shop, "numbers", 10).succeeded().size());
    EngineException rows = failure("numbers", 11);
    assertEquals(ErrorCode.LIMIT_EXCEEDED, rows.code());
    assertTrue(rows.getMessage().contains("max_rows"), rows.getMessage());
    assertEquals(900, ((String) rig.call(shop, "long_text", 900).succeeded().get(0)[0]).length());
    EngineException bytes = failure("long_text", 1_100);
    assertEquals(ErrorCode.LIMIT_EXCEEDED, bytes.code());
    assertTrue(bytes.getMessage().contains("max_bytes"), bytes.getMessage());
  }

  @Test
  void shouldReportWhatIsThrown() {
    EngineException plain = failure("fails", "");
    assertEquals("P0001", plain.sqlstate());
    assertEquals("java.lang.IllegalStateException: kaputt", plain.getMessage());
    assertNull(plain.getCause(), "would hold the class loader");
    assertEquals("AB123", failure("fails", "AB123").sqlstate());
    assertEquals(ErrorCode.CHECK_VIOLATION, failure("check").code());
    var entry =
        rig.system.failures().stream()
            .filter(each -> each.message().contains("kaputt"))
            .findFirst()
            .orElseThrow();
    assertEquals("procedure fails", entry.member());
    assertTrue(entry.stack().contains("shop.Shop.lambda$"), entry.stack());
  }

  @Test
  void shouldNameWhatDoesNotFit() {
    EngineException e = failure("wrong_table");
    assertEquals("42703", e.sqlstate());
    assertTrue(e.getMessage().contains("\"line_number\""), e.getMessage());
  }

  @Test
  void shouldReadRowsOfStatements() {
    rig.call(shop, "place", 90L, "q", null).succeeded();
    assertTrue((int) rig.call(shop, "query").succeeded().get(0)[0] > 0);
    assertEquals(rig.host.rows(), rig.call(shop, "count").succeeded().get(0)[0]);
  }

  @Test
  void shouldCloseStreamsThatCodeHasLeftOpen() {
    rig.call(shop, "place", 95L, "open", null).succeeded();
    assertEquals(1, rig.call(shop, "leaves_open").succeeded().get(0)[0]);
    assertEquals(0, rig.host.openRows.get());
  }

  @Test
  void shouldEndACallWhoseTimeIsOver() {
    EngineException e = failure("sleep");
    assertEquals(ErrorCode.QUERY_CANCELED, e.code());
    assertTrue(e.getMessage().contains("time limit"), e.getMessage());
  }

  @Test
  void shouldRunWhatIsProcessorBoundOnAThreadOfThePlatform() {
    assertEquals("caller 5", rig.call(shop, "bound").succeeded().get(0)[0]);
  }

  @Test
  void shouldLetFewCallsRunAndFewWait() {
    try (PlatformRig other = new PlatformRig()) {
      LoadedApplication gates =
          other.system.load(
              other.deploy(
                  LIMITS,
                  UserJar.shop(
                          """
                          it.procedure("wait", Void.class, Void.class, (call, none) -> { GATE.acquire(); return null; });
                          """,
                          "static final java.util.concurrent.Semaphore GATE = new java.util.concurrent.Semaphore(0);")
                      .content()));
      PlatformRig.Outcome first = new PlatformRig.Outcome();
      PlatformRig.Outcome second = new PlatformRig.Outcome();
      PlatformRig.Outcome waits = new PlatformRig.Outcome();
      LoadedApplication.Running one = other.start(gates, "wait", null, first);
      LoadedApplication.Running two = other.start(gates, "wait", null, second);
      LoadedApplication.Running three = other.start(gates, "wait", null, waits);
      assertEquals(
          ErrorCode.TOO_MANY_SESSIONS,
          assertThrows(EngineException.class, () -> other.call(gates, "wait")).code());
      three.cancel();
      assertEquals(ErrorCode.QUERY_CANCELED, waits.failed().code());
      PlatformRig.Outcome next = new PlatformRig.Outcome();
      LoadedApplication.Running four = other.start(gates, "wait", null, next);
      assertFalse(next.isOver());
      one.cancel();
      assertEquals(ErrorCode.QUERY_CANCELED, first.failed().code());
      two.cancel();
      four.cancel();
      assertEquals(ErrorCode.QUERY_CANCELED, second.failed().code());
      assertEquals(ErrorCode.QUERY_CANCELED, next.failed().code());
    }
  }

  @Test
  void shouldCallOffATransactionOfThePlatform() throws InterruptedException {
    int before = rig.host.rolledBack.get();
    PlatformRig.Outcome outcome = new PlatformRig.Outcome();
    LoadedApplication.Running running = rig.start(shop, "wait", null, outcome);
    CountDownLatch begun = new CountDownLatch(1);
    Thread.startVirtualThread(() -> {
      while (rig.system.calls().stream()
          .noneMatch(state -> state.member().equals("procedure wait") && state.running() == 1)) {
        Thread.onSpinWait();
      }
      begun.countDown();
    });
    assertTrue(begun.await(10, TimeUnit.SECONDS));
    running.cancel();
    assertEquals(ErrorCode.QUERY_CANCELED, outcome.failed().code());
    assertTrue(rig.host.rolledBack.get() >= before, "rolled back");
    assertEquals(List.of(), outcome.rows);
  }
}
