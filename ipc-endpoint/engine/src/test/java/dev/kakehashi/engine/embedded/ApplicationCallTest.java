package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// CALL of procedures of native applications.
final class ApplicationCallTest {
  @TempDir Path directory;
  private final WrittenApplications applications = new WrittenApplications();
  private final CountDownLatch entered = new CountDownLatch(1);
  private TestEngine engine;

  private static Field field(String name, int oid) {
    return new Field(name, oid, true);
  }

  private static DirectAccess access(
      dev.kakehashi.engine.api.application.LoadedApplication.Invocation invocation) {
    return Objects.requireNonNull(invocation.access());
  }

  private WrittenApplication shop() {
    List<Field> order = List.of(field("id", TypeOid.INT4), field("note", TypeOid.TEXT));
    List<Field> none = List.of();
    return new WrittenApplication()
        .procedure(
            "place",
            CallTransaction.REQUIRED,
            order,
            order,
            (invocation, listener) -> {
              @Nullable Object[] given = invocation.arguments();
              access(invocation).execute("insert into orders values ($1, $2)", given, null);
              listener.row(new @Nullable Object[] {given[0], invocation.user() + ":" + given[1]});
            })
        .procedure(
            "place_and_fail",
            CallTransaction.REQUIRED,
            order,
            none,
            (invocation, listener) -> {
              access(invocation)
                  .execute("insert into orders values ($1, $2)", invocation.arguments(), null);
              throw new EngineException(ErrorCode.RAISE_EXCEPTION, "changed my mind")
                  .withSqlstate("SH001");
            })
        .procedure(
            "numbers",
            CallTransaction.REQUIRED,
            List.of(field("count", TypeOid.INT4)),
            List.of(field("n", TypeOid.INT8), field("text", TypeOid.TEXT)),
            (invocation, listener) ->
                IntStream.range(0, (Integer) Objects.requireNonNull(invocation.arguments()[0]))
                    .forEach(i -> listener.row(new @Nullable Object[] {(long) i, "text " + i})))
        .procedure(
            "waits",
            CallTransaction.REQUIRED,
            none,
            none,
            (invocation, listener) -> {
              entered.countDown();
              new CountDownLatch(1).await();
            })
        .procedure(
            "alone",
            CallTransaction.OWN,
            none,
            List.of(field("given", TypeOid.BOOL)),
            (invocation, listener) ->
                listener.row(new @Nullable Object[] {invocation.access() != null}))
        .procedure(
            "apart",
            CallTransaction.NONE,
            none,
            List.of(field("given", TypeOid.BOOL)),
            (invocation, listener) ->
                listener.row(new @Nullable Object[] {invocation.access() != null}))
        .procedure(
            "overloaded",
            CallTransaction.NONE,
            List.of(field("a", TypeOid.INT4)),
            List.of(field("form", TypeOid.TEXT)),
            (invocation, listener) -> listener.row(new @Nullable Object[] {"int"}))
        .procedure(
            "overloaded",
            CallTransaction.NONE,
            List.of(field("a", TypeOid.TEXT)),
            List.of(field("form", TypeOid.TEXT)),
            (invocation, listener) -> listener.row(new @Nullable Object[] {"text"}))
        .longs("twice", value -> 2 * value);
  }

  @BeforeEach
  void open() {
    engine = TestEngine.withApplications(directory, ListQueues::new, () -> applications);
    engine.query("create application shop from " + applications.jar("shop", shop()));
    engine.query("create table orders (id int primary key, note text)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private EngineException refused(String sql) {
    return assertThrows(EngineException.class, () -> engine.query(sql));
  }

  @Test
  void shouldTakePartInTheTransaction() {
    assertEquals(List.of("7|test:seven"), engine.query("call place(3 + 4, 'seven')"));
    assertEquals(List.of("7|seven"), engine.query("select * from orders"));
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "call public.place($1, $2)", "8", "eight");
    assertEquals(List.of("2"), engine.run(transaction, "select count(*) from orders").rows());
    engine.rollback(transaction);
    assertEquals(List.of("1"), engine.query("select count(*) from orders"));
  }

  @Test
  void shouldUndoAFailedCall() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "call place(1, 'one')");
    EngineException failed =
        assertThrows(
            EngineException.class, () -> engine.run(transaction, "call place_and_fail(2, 'two')"));
    assertEquals("SH001", failed.sqlstate());
    engine.commit(transaction);
    assertEquals(List.of("1|one"), engine.query("select * from orders"));
    // An error of the engine within the call stays the engine's error.
    assertEquals(ErrorCode.UNIQUE_VIOLATION, refused("call place(1, 'again')").code());
  }

  @Test
  void shouldGiveManyRows() {
    int count = 5_000;
    List<String> rows = engine.query("call numbers(" + count + ")");
    assertEquals(count, rows.size());
    assertEquals("4999|text 4999", rows.getLast());
    assertEquals(List.of(), engine.query("call numbers(0)"));
    TestEngine.Result result = engine.run("call numbers(2)");
    assertEquals(2, result.count());
    assertEquals("n", result.columns().getFirst().name());
  }

  @Test
  void shouldCallForEachRowOfParameters() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.execute(
        transaction,
        engine.prepare("call place($1, $2)"),
        new @Nullable Object[][] {{"1", "a"}, {"2", null}, {"3", "c"}});
    engine.commit(transaction);
    assertEquals(List.of("1|a", "2|NULL", "3|c"), engine.query("select * from orders order by 1"));
  }

  @Test
  void shouldCancelACall() throws InterruptedException {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(
            transaction,
            engine.prepare("call waits()"),
            new @Nullable Object[][] {{}},
            Integer.MAX_VALUE,
            0);
    assertTrue(entered.await(60, TimeUnit.SECONDS));
    assertFalse(running.done.isDone());
    Objects.requireNonNull(running.execution).cancel();
    assertEquals(
        ErrorCode.QUERY_CANCELED, assertThrows(EngineException.class, running::await).code());
    engine.run(transaction, "call place(1, 'after')");
    engine.commit(transaction);
    assertEquals(List.of("1"), engine.query("select count(*) from orders"));
  }

  @Test
  void shouldKeepTransactionsOfTheirOwnOutOfBlocks() {
    assertEquals(List.of("f"), engine.query("call alone()"));
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    assertEquals(
        ErrorCode.ACTIVE_TRANSACTION,
        assertThrows(EngineException.class, () -> engine.run(transaction, "call alone()")).code());
    assertEquals(List.of("f"), engine.run(transaction, "call apart()").rows());
    engine.rollback(transaction);
  }

  @Test
  void shouldRefuseChangesInReadOnlyTransactions() {
    EngineTransaction transaction =
        engine.engine.begin(
            new BeginOptions(BeginOptions.Kind.RTX, Isolation.REPEATABLE_READ, "test"));
    assertEquals(List.of("0|text 0"), engine.run(transaction, "call numbers(1)").rows());
    assertEquals(
        ErrorCode.READ_ONLY_TRANSACTION,
        assertThrows(EngineException.class, () -> engine.run(transaction, "call place(1, 'x')"))
            .code());
    engine.rollback(transaction);
  }

  @Test
  void shouldChooseAmongProceduresOfOneName() {
    assertEquals(List.of("int"), engine.query("call overloaded(1)"));
    assertEquals(List.of("text"), engine.query("call overloaded('1'::text)"));
    EngineException none = refused("call overloaded(1, 2)");
    assertEquals(ErrorCode.UNDEFINED_FUNCTION, none.code());
    assertEquals("procedure overloaded(integer, integer) does not exist", none.getMessage());
    assertEquals(6, none.position());
  }

  @Test
  void shouldTellFunctionsFromProcedures() {
    assertEquals(ErrorCode.WRONG_OBJECT_TYPE, refused("call twice(1)").code());
    assertEquals(ErrorCode.WRONG_OBJECT_TYPE, refused("select place(1, 'x')").code());
    assertEquals(ErrorCode.UNDEFINED_FUNCTION, refused("call nothing()").code());
    assertEquals(ErrorCode.SYNTAX_ERROR, refused("call place(1, )").code());
    assertEquals(ErrorCode.SYNTAX_ERROR, refused("call place").code());
    assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED, refused("call overloaded((select 1))").code());
  }
}
