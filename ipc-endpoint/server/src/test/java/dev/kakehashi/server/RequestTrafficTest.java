package dev.kakehashi.server;

import static dev.kakehashi.server.RequestDoor.ALICE;
import static dev.kakehashi.server.RequestDoor.AUTO;
import static dev.kakehashi.server.RequestDoor.parameters;
import static dev.kakehashi.server.RequestDoor.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.requests.InProcessRequests;
import dev.kakehashi.testsupport.BatchSink;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Clients of both doors at once, which cancel and go away at random: each call has one answer, nobody gets another one's rows, and nothing
/// is left.
@Timeout(120)
class RequestTrafficTest {
  private static final int STEPS = 150;
  private static final Set<ErrorCode> EXPECTED =
      Set.of(ErrorCode.QUERY_CANCELED, ErrorCode.NO_SUCH_TRANSACTION);

  /// A client of the process, whose sessions do not live long.
  private static int play(InProcessRequests requests, SplittableRandom random) {
    List<RequestDoor.Running> all = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      List<BatchSink> sinks = new ArrayList<>();
      try (RequestDoor door = RequestDoor.open(requests, ALICE)) {
        Statement one = door.prepare(FixedEngine.ONE);
        Statement numbers = door.prepare(FixedEngine.NUMBERS);
        Statement forever = door.prepare(FixedEngine.FOREVER);
        long handle = random.nextBoolean() ? door.begin() : 0;
        for (int i = random.nextInt(4); i >= 0; i--) {
          var use = handle != 0 && random.nextBoolean() ? within(handle) : AUTO;
          BatchSink sink = new BatchSink(1 + random.nextInt(2));
          sinks.add(sink);
          RequestDoor.Running running =
              switch (random.nextInt(4)) {
                case 0 -> door.start(forever, ParameterBatch.NONE, use, sink);
                case 1 -> door.start(numbers, parameters(20_000L), use, sink);
                default -> door.start(one, ParameterBatch.NONE, use, sink);
              };
          all.add(running);
          if (random.nextInt(3) == 0) {
            running.cancelable().cancel();
          }
          sinks.forEach(BatchSink::take);
        }
        if (handle != 0 && random.nextBoolean()) {
          door.cancelTransaction(handle);
        }
        if (handle != 0) {
          door.rollback(handle); // and what runs in it
        }
      } // cancels the rest
      for (RequestDoor.Running running : all) {
        EngineException failure = running.get().failure();
        assertTrue(
            failure == null
                || EXPECTED.contains(failure.code())
                || failure.code() == ErrorCode.TRANSACTION_ABORTED,
            () -> String.valueOf(failure));
      }
      all.clear();
    }
    return STEPS;
  }

  /// A client of shared memory, which must not notice.
  private static int read(TestEndpoint endpoint) {
    int read = 0;
    try (Session session = endpoint.attach();
        PreparedStatement numbers = session.prepare(FixedEngine.NUMBERS)) {
      for (int step = 0; step < STEPS; step++) {
        try (Rows rows = session.query(numbers, numbers.parameters().addRow(500L))) {
          for (long n = 0; n < 500; n++) {
            assertTrue(rows.next());
            assertEquals(n, rows.getLong(0));
          }
        }
        read++;
      }
    }
    return read;
  }

  @Test
  void shouldAnswerEachCallOnce() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("RequestTrafficTest: -Dkakehashi.seed=" + seed);
    try (TestEndpoint endpoint = TestEndpoint.start();
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      InProcessRequests requests = endpoint.server().requests();
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int client = 0; client < 4; client++) {
        SplittableRandom random = new SplittableRandom(seed + client);
        tasks.add(() -> play(requests, random));
      }
      tasks.add(() -> read(endpoint));
      List<Future<Integer>> results = new ArrayList<>();
      tasks.forEach(task -> results.add(clients.submit(task)));
      for (Future<Integer> result : results) {
        assertEquals(STEPS, result.get(100, TimeUnit.SECONDS));
      }
      endpoint.await("transactions end", () -> endpoint.engine().openTransactions() == 0);
    }
  }
}
