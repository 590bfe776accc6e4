package dev.kakehashi.server;

import static dev.kakehashi.server.RequestDoor.ALICE;
import static dev.kakehashi.server.RequestDoor.AUTO;
import static dev.kakehashi.server.RequestDoor.BOB;
import static dev.kakehashi.server.RequestDoor.OPERATOR;
import static dev.kakehashi.server.RequestDoor.assertFailed;
import static dev.kakehashi.server.RequestDoor.parameters;
import static dev.kakehashi.server.RequestDoor.succeeded;
import static dev.kakehashi.server.RequestDoor.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.InProcessRequests;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.TransactionUse;
import dev.kakehashi.testsupport.BatchSink;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The calls of an interface in the endpoint's process.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before each test
class RequestClientTest {
  private static final long MILLI = 1_000_000L;

  private TestEndpoint endpoint;
  private InProcessRequests requests;
  private RequestDoor alice;

  @BeforeAll
  void start() throws IOException {
    endpoint = TestEndpoint.start("max_sessions", "20");
    requests = endpoint.server().requests();
  }

  @AfterAll
  void stop() throws IOException {
    endpoint.close();
  }

  @BeforeEach
  void open() {
    alice = RequestDoor.open(requests, ALICE);
  }

  /// Whatever a test did: its transactions have ended.
  @AfterEach
  void close() throws InterruptedException {
    alice.close();
    endpoint.await("transactions end", () -> endpoint.engine().openTransactions() == 0);
  }

  @Test
  void shouldRunStatementsOfTheirOwn() {
    long before = alice.number(FixedEngine.COUNT, AUTO);
    RequestAnswer answer = succeeded(alice.execute(FixedEngine.INSERT, AUTO, 1L, "one"));
    assertEquals(1, answer.rows());
    assertEquals(TransactionState.NONE, answer.state());
    assertEquals(0, answer.handle());
    assertEquals(before + 1, alice.number(FixedEngine.COUNT, AUTO));
  }

  @Test
  void shouldSayWhyAStatementCannotBePrepared() {
    assertEquals(ErrorCode.SYNTAX_ERROR, alice.refusal("nonsense").code());
  }

  @Test
  void shouldRefuseParametersThatAreNone() {
    assertFailed("42P02", alice.execute(FixedEngine.INSERT, AUTO));
    assertFailed("42P02", alice.execute(FixedEngine.INSERT, AUTO, 1L));
    assertFailed("22021", alice.execute(FixedEngine.INSERT, AUTO, 1L, "a\0b"));
    ParameterBatch broken =
        new ParameterBatch(java.lang.foreign.MemorySegment.ofArray(new long[] {-1, -1, -1, -1}), 1);
    RequestAnswer answer =
        alice.start(alice.prepare(FixedEngine.INSERT), broken, AUTO, new BatchSink(1)).get();
    assertFailed(ErrorCode.MALFORMED_MESSAGE.sqlstate(), answer);
  }

  @Test
  void shouldContinueATransactionUntilItsEnd() {
    long before = alice.number(FixedEngine.COUNT, AUTO);
    RequestAnswer begun = succeeded(alice.begin(0));
    long handle = begun.handle();
    assertEquals(TransactionState.ACTIVE, begun.state());
    assertTrue(begun.leaseDeadlineNanos() - System.nanoTime() > 0);
    RequestAnswer inserted =
        succeeded(alice.execute(FixedEngine.INSERT, within(handle), 1L, "one"));
    assertEquals(handle, inserted.handle());
    assertEquals(TransactionState.ACTIVE, inserted.state());
    assertEquals(before, alice.number(FixedEngine.COUNT, AUTO));
    assertEquals(TransactionState.ACTIVE, succeeded(alice.outcome(handle)).state());
    assertEquals(TransactionState.COMMITTED, succeeded(alice.commit(handle)).state());
    assertEquals(before + 1, alice.number(FixedEngine.COUNT, AUTO));
    assertEquals(TransactionState.COMMITTED, succeeded(alice.commit(handle)).state());
    assertEquals(TransactionState.COMMITTED, succeeded(alice.outcome(handle)).state());
    assertFailed("25P01", alice.execute(FixedEngine.ONE, within(handle)));
  }

  @Test
  void shouldCommitAfterAStatement() {
    long handle = alice.begin();
    TransactionUse last = new TransactionUse.Continue(handle, true, CommitResponse.STORED);
    RequestAnswer answer = succeeded(alice.execute(FixedEngine.INSERT, last, 1L, "one"));
    assertEquals(TransactionState.COMMITTED, answer.state());
  }

  @Test
  void shouldRollBack() {
    long before = alice.number(FixedEngine.COUNT, AUTO);
    long handle = alice.begin();
    succeeded(alice.execute(FixedEngine.INSERT, within(handle), 1L, "one"));
    assertEquals(TransactionState.ABORTED, succeeded(alice.rollback(handle)).state());
    assertEquals(before, alice.number(FixedEngine.COUNT, AUTO));
    assertEquals(TransactionState.ABORTED, succeeded(alice.outcome(handle)).state());
  }

  @Test
  void shouldTakeTheHandleOfAnotherUserForNone() {
    long handle = alice.begin();
    try (RequestDoor bob = RequestDoor.open(requests, BOB)) {
      assertFailed("25P01", bob.execute(FixedEngine.ONE, within(handle)));
      assertFailed("25P01", bob.renew(handle));
      assertFailed("25P01", bob.commit(handle));
      assertEquals(TransactionState.UNKNOWN, succeeded(bob.outcome(handle)).state());
      assertEquals(TransactionState.UNKNOWN, succeeded(bob.cancelTransaction(handle)).state());
      assertEquals(TransactionState.UNKNOWN, succeeded(bob.rollback(handle)).state());
      assertEquals(TransactionState.ACTIVE, succeeded(alice.outcome(handle)).state());
      assertTrue(requests.handle(BOB, requests.token(ALICE, handle)).isEmpty());
    }
    succeeded(alice.execute(FixedEngine.INSERT, within(handle), 1L, "one"));
    succeeded(alice.commit(handle));
    try (RequestDoor bob = RequestDoor.open(requests, BOB)) {
      assertEquals(TransactionState.UNKNOWN, succeeded(bob.outcome(handle)).state());
    }
  }

  /// A token that differs in its last digit.
  private static String otherThan(String token) {
    int last = token.length() - 1;
    return token.substring(0, last) + (token.charAt(last) == '0' ? '1' : '0');
  }

  @Test
  void shouldEndTransactionsOfOthersForWhoRunsTheEndpoint() {
    long handle = alice.begin();
    BatchSink sink = new BatchSink(1);
    RequestDoor.Running running =
        alice.start(alice.prepare(FixedEngine.FOREVER), ParameterBatch.NONE, within(handle), sink);
    String token = requests.token(ALICE, handle);
    try (RequestDoor bob = RequestDoor.open(requests, BOB);
        RequestDoor operator = RequestDoor.open(requests, OPERATOR)) {
      assertEquals(TransactionState.UNKNOWN, succeeded(bob.terminate(handle)).state());
      assertEquals(TransactionState.UNKNOWN, succeeded(bob.terminate(token)).state());
      assertEquals(TransactionState.UNKNOWN, succeeded(operator.terminate(handle + 1)).state());
      assertEquals(
          TransactionState.UNKNOWN, succeeded(operator.terminate(otherThan(token))).state());
      assertFalse(running.answer().isDone());
      assertEquals(TransactionState.ABORTED, succeeded(operator.terminate(token)).state());
      assertEquals(TransactionState.UNKNOWN, succeeded(operator.terminate(handle)).state());
    }
    assertTerminated(running.get());
    assertTerminated(alice.execute(FixedEngine.ONE, within(handle)));
    assertTerminated(alice.renew(handle));
    assertEquals(TransactionState.ABORTED, succeeded(alice.outcome(handle)).state());
    assertTerminated(alice.commit(handle));
    assertFailed("25P01", alice.commit(handle));
  }

  private static void assertTerminated(RequestAnswer answer) {
    assertFailed("25P03", answer);
    assertEquals(ErrorCode.TRANSACTION_TERMINATED, Objects.requireNonNull(answer.failure()).code());
  }

  @Test
  void shouldNotTakeHandleZeroForTheLastTransaction() {
    long handle = alice.begin();
    assertFailed("25P01", alice.execute(FixedEngine.ONE, within(0)));
    assertFailed("25P01", alice.commit(0));
    succeeded(alice.rollback(handle));
  }

  @Test
  void shouldLetATransactionOutliveItsSession() {
    long handle = alice.begin();
    succeeded(alice.execute(FixedEngine.INSERT, within(handle), 1L, "one"));
    alice.close();
    try (RequestDoor again = RequestDoor.open(requests, ALICE)) {
      assertEquals(TransactionState.ACTIVE, succeeded(again.outcome(handle)).state());
      assertEquals(TransactionState.COMMITTED, succeeded(again.commit(handle)).state());
    }
  }

  @Test
  void shouldEndTransactionsWithTheirLease() throws InterruptedException {
    long handle = succeeded(alice.begin(100 * MILLI)).handle();
    endpoint.await("the lease is over", () -> endpoint.engine().openTransactions() == 0);
    assertFailed("25P03", alice.execute(FixedEngine.ONE, within(handle)));
    assertEquals(TransactionState.ABORTED, succeeded(alice.rollback(handle)).state());
    assertEquals(TransactionState.ABORTED, succeeded(alice.outcome(handle)).state());
  }

  @Test
  void shouldRenewALease() {
    RequestAnswer begun = succeeded(alice.begin(3_600_000 * MILLI));
    RequestAnswer renewed = succeeded(alice.renew(begun.handle()));
    assertTrue(renewed.leaseDeadlineNanos() - begun.leaseDeadlineNanos() > 0);
    succeeded(alice.rollback(begun.handle()));
    assertFailed("25P01", alice.renew(begun.handle()));
  }

  @Test
  void shouldWaitForAReaderThatIsSlow() throws InterruptedException {
    BatchSink sink = new BatchSink(2);
    RequestDoor.Running running =
        alice.start(alice.prepare(FixedEngine.NUMBERS), parameters(100_000L), AUTO, sink);
    long next = 0;
    while (next < 100_000) {
      // It fills the sink, and then nothing comes until a batch is taken.
      if (next < 50_000) {
        endpoint.await("the sink is full", () -> sink.waiters() > 0);
        assertFalse(running.answer().isDone());
      }
      for (RowBatchReader batch = sink.take(); batch != null; batch = sink.take()) {
        for (int row = 0; row < batch.rowCount(); row++) {
          assertEquals(next++, batch.getLong(row, 0));
        }
      }
    }
    assertEquals(100_000, succeeded(running.get()).rows());
  }

  @Test
  void shouldCancelWhatRuns() {
    RequestDoor.Running running =
        alice.start(
            alice.prepare(FixedEngine.FOREVER), ParameterBatch.NONE, AUTO, new BatchSink(1));
    running.cancelable().cancel();
    assertFailed("57014", running.get());
    running.cancelable().cancel();
    assertEquals(1, alice.number(FixedEngine.ONE, AUTO));
  }

  @Test
  void shouldCancelWhatWaitsForItsReader() throws InterruptedException {
    BatchSink sink = new BatchSink(1);
    RequestDoor.Running running =
        alice.start(alice.prepare(FixedEngine.NUMBERS), parameters(1_000_000L), AUTO, sink);
    endpoint.await("the sink is full", () -> sink.waiters() > 0);
    running.cancelable().cancel();
    assertFailed("57014", running.get());
  }

  @Test
  void shouldCancelATransactionFromAnotherSession() {
    long handle = alice.begin();
    RequestDoor.Running running =
        alice.start(
            alice.prepare(FixedEngine.FOREVER),
            ParameterBatch.NONE,
            within(handle),
            new BatchSink(1));
    try (RequestDoor other = RequestDoor.open(requests, ALICE)) {
      assertEquals(TransactionState.ACTIVE, succeeded(other.cancelTransaction(handle)).state());
    }
    assertFailed("57014", running.get());
    succeeded(alice.rollback(handle));
  }

  @Test
  void shouldCancelWhatRunsInASessionThatIsClosed() {
    RequestDoor.Running running =
        alice.start(
            alice.prepare(FixedEngine.FOREVER), ParameterBatch.NONE, AUTO, new BatchSink(1));
    alice.close();
    assertFailed("57014", running.get());
    assertFailed("57014", alice.begin(0));
  }

  @Test
  void shouldKeepTheOrderOfCalls() {
    long handle = alice.begin();
    // Nobody waits in between: the statement that is planned by a worker holds up the others.
    alice.session().prepare(FixedEngine.PLANNED, new int[0], (statement, failure) -> {});
    RequestDoor.Running insert =
        alice.start(
            alice.prepare(FixedEngine.INSERT),
            parameters(1L, "one"),
            within(handle),
            new BatchSink(1));
    RequestAnswer committed = succeeded(alice.commit(handle));
    assertTrue(insert.answer().isDone());
    assertEquals(TransactionState.COMMITTED, committed.state());
  }

  @Test
  void shouldRefuseMoreSessionsThanItsLimit() {
    java.util.ArrayDeque<RequestDoor> open = new java.util.ArrayDeque<>();
    EngineException failure =
        assertThrows(
            EngineException.class,
            () -> {
              for (int i = 0; i < 20; i++) {
                open.add(RequestDoor.open(requests, ALICE));
              }
            });
    assertEquals(ErrorCode.OUT_OF_SLOTS, failure.code());
    assertEquals(19, open.size());
    open.remove().close();
    open.add(RequestDoor.open(requests, BOB));
    open.forEach(RequestDoor::close);
  }
}
