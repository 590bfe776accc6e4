package dev.kakehashi.server;

import static dev.kakehashi.server.RequestDoor.ALICE;
import static dev.kakehashi.server.RequestDoor.AUTO;
import static dev.kakehashi.server.RequestDoor.BOB;
import static dev.kakehashi.server.RequestDoor.assertFailed;
import static dev.kakehashi.server.RequestDoor.parameters;
import static dev.kakehashi.server.RequestDoor.succeeded;
import static dev.kakehashi.server.RequestDoor.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.InProcessRequests;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.testsupport.BatchSink;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Limits, leases and the end of the endpoint, for an interface in its process.
@SuppressWarnings("NullAway.Init") // set by each test
@Timeout(120)
class RequestLimitsTest {
  private TestEndpoint endpoint;
  private InProcessRequests requests;
  private RequestDoor door;

  private void start(String... settings) throws IOException {
    endpoint = TestEndpoint.start(settings);
    requests = endpoint.server().requests();
    door = RequestDoor.open(requests, ALICE);
  }

  @AfterEach
  void stop() throws IOException {
    door.close();
    endpoint.close();
  }

  private RequestDoor.Running start(String sql) {
    return door.start(door.prepare(sql), ParameterBatch.NONE, AUTO, new BatchSink(1));
  }

  @Test
  void shouldLetExecutionsBeyondTheLimitWait() throws IOException {
    start("session_max_concurrent_requests", "1");
    RequestDoor.Running first = start(FixedEngine.FOREVER);
    RequestDoor.Running second =
        door.start(door.prepare(FixedEngine.ONE), ParameterBatch.NONE, AUTO, new BatchSink(1));
    assertFalse(second.answer().isDone());
    first.cancelable().cancel();
    assertFailed("57014", first.get());
    assertEquals(1, succeeded(second.get()).rows());
  }

  @Test
  void shouldCancelWhatWaitsForItsAdmission() throws IOException {
    start("session_max_concurrent_requests", "1");
    var forever = door.prepare(FixedEngine.FOREVER);
    var one = door.prepare(FixedEngine.ONE);
    RequestDoor.Running first = door.start(forever, ParameterBatch.NONE, AUTO, new BatchSink(1));
    RequestDoor.Running waits = door.start(one, ParameterBatch.NONE, AUTO, new BatchSink(1));
    RequestDoor.Running behind = door.start(one, ParameterBatch.NONE, AUTO, new BatchSink(1));
    waits.cancelable().cancel();
    assertFailed("57014", waits.get());
    behind.cancelable().cancel();
    assertFailed("57014", behind.get());
    assertFalse(first.answer().isDone());
    first.cancelable().cancel();
    assertFailed("57014", first.get());
    assertEquals(1, door.number(FixedEngine.ONE, AUTO));
  }

  @Test
  void shouldAnswerWhatWaitsWhenTheSessionIsClosed() throws IOException {
    start("session_max_concurrent_requests", "1");
    var forever = door.prepare(FixedEngine.FOREVER);
    RequestDoor.Running first = door.start(forever, ParameterBatch.NONE, AUTO, new BatchSink(1));
    RequestDoor.Running waits = door.start(forever, ParameterBatch.NONE, AUTO, new BatchSink(1));
    door.close();
    assertFailed("57014", first.get());
    assertFailed("57014", waits.get());
  }

  /// As a client that goes away and leaves its download open.
  @Test
  void shouldEndATransactionWhoseReaderTakesNothing() throws IOException, InterruptedException {
    start("lease", "100ms", "max_lease", "1h");
    long handle = door.begin();
    BatchSink sink = new BatchSink(1);
    RequestDoor.Running running =
        door.start(door.prepare(FixedEngine.NUMBERS), parameters(1_000_000L), within(handle), sink);
    endpoint.await("the sink is full", () -> sink.waiters() > 0);
    assertFailed("25P03", running.get());
    endpoint.await("it is rolled back", () -> endpoint.engine().openTransactions() == 0);
    assertFailed("25P03", door.renew(handle));
    assertEquals(TransactionState.ABORTED, succeeded(door.outcome(handle)).state());
  }

  @Test
  void shouldEndWhatIsIdleForTooLong() throws IOException, InterruptedException {
    start("idle_in_transaction_timeout", "100ms");
    long unused = door.begin();
    long used = door.begin();
    succeeded(door.execute(FixedEngine.ONE, within(used)));
    endpoint.await("they are rolled back", () -> endpoint.engine().openTransactions() == 0);
    for (long handle : new long[] {unused, used}) {
      RequestAnswer answer = door.execute(FixedEngine.ONE, within(handle));
      assertFailed("25P03", answer);
      assertEquals(
          ErrorCode.IDLE_IN_TRANSACTION_TIMEOUT, Objects.requireNonNull(answer.failure()).code());
      assertEquals(TransactionState.ABORTED, succeeded(door.rollback(handle)).state());
    }
  }

  /// A statement that works, or whose reader takes nothing, is no idleness: the time begins at its end.
  @Test
  void shouldNotEndWhatRunsForLongerThanTheIdleTimeout() throws IOException, InterruptedException {
    start("idle_in_transaction_timeout", "100ms");
    long handle = door.begin();
    RequestDoor.Running running =
        door.start(
            door.prepare(FixedEngine.FOREVER),
            ParameterBatch.NONE,
            within(handle),
            new BatchSink(1));
    long unused = door.begin();
    endpoint.await("a look has come", () -> endpoint.engine().openTransactions() == 1);
    assertFailed("25P03", door.renew(unused));
    assertFalse(running.answer().isDone());
    running.cancelable().cancel();
    assertFailed("57014", running.get());
    endpoint.await("it is rolled back", () -> endpoint.engine().openTransactions() == 0);
    assertFailed("25P03", door.renew(handle));
  }

  @Test
  void shouldLetAUserBeIdleForHisTime() throws IOException, InterruptedException {
    start(
        "idle_in_transaction_timeout",
        "100ms",
        "idle_in_transaction_timeout_roles",
        "bob=0s, carol = 1h");
    try (RequestDoor bob = RequestDoor.open(requests, BOB)) {
      long ofBob = bob.begin();
      long ofAlice = door.begin();
      endpoint.await("alice's is ended", () -> endpoint.engine().openTransactions() == 1);
      assertFailed("25P03", door.renew(ofAlice));
      succeeded(bob.renew(ofBob));
      succeeded(bob.rollback(ofBob));
    }
  }

  /// Its statements work for longer than the lease, and its reader takes what comes.
  @Test
  void shouldKeepATransactionWhoseReaderGoesOn() throws IOException {
    start("lease", "100ms", "max_lease", "1h");
    long handle = door.begin();
    long deadline = System.nanoTime() + 1_500_000_000L; // more than a look at leases takes to come
    BatchSink sink = new BatchSink(1);
    RequestDoor.Running running =
        door.start(
            door.prepare(FixedEngine.NUMBERS), parameters(Long.MAX_VALUE), within(handle), sink);
    while (System.nanoTime() - deadline < 0) {
      sink.take();
      assertFalse(running.answer().isDone(), "it has ended");
    }
    running.cancelable().cancel();
    assertFailed("57014", running.get());
    succeeded(door.rollback(handle));
  }

  @Test
  void shouldForgetATransactionThatNobodyCanAskForAfterItsLease() throws Exception {
    start("max_transactions", "1");
    succeeded(door.begin(100_000_000L));
    door.close();
    endpoint.await("the lease is over", () -> endpoint.engine().openTransactions() == 0);
    door = RequestDoor.open(requests, ALICE);
    endpoint.await("its place is free", () -> door.begin(0).failure() == null);
  }

  @Test
  void shouldAnswerEverythingWhenTheEndpointEnds() throws IOException {
    start();
    RequestDoor.Running running = start(FixedEngine.FOREVER);
    endpoint.server().close();
    assertTrue(running.answer().isDone());
    assertFailed("57014", running.get());
    EngineException failure =
        assertThrows(EngineException.class, () -> RequestDoor.open(requests, ALICE));
    assertEquals(ErrorCode.SHUTTING_DOWN, failure.code());
    assertFailed("57014", door.begin(0));
  }
}
