package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The endpoint is killed at random moments while clients change rows over HTTP. More kills by `-Dkakehashi.kills=200`, the same moments by
/// `-Dkakehashi.seed=…`.
///
/// A row has no key of its own in the table: one that was inserted twice is there twice.
@Timeout(1800)
class HttpKillTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 4);
  private static final long SEED = Long.getLong("kakehashi.seed", System.nanoTime());
  private static final int CLIENTS = 4;
  private static final long LONGEST_LIFE_NANOS = 400_000_000L;
  private static final long LIMIT_NANOS = 120_000_000_000L;

  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong answers = new AtomicLong();
  private volatile boolean isOver;

  /// Numbers of transactions to how they ended, as the endpoint has told.
  private final Map<Long, String> outcomes = new ConcurrentHashMap<>();

  private final Map<Long, Boolean> keyed = new ConcurrentHashMap<>();

  @Test
  void shouldChangeEachRowOnceAndKnowEachOutcome() throws Exception {
    System.out.println("seed " + SEED + ", kills " + KILLS);
    Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    Path socket = directory.resolve("http");
    try (EndpointProcess endpoint = EndpointProcess.open("http_socket=" + socket);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      sql(socket, "create table log (seq int8 primary key generated always as identity, k int8)");
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Random random = new Random(SEED + 1 + i);
        clients.add(threads.submit(() -> run(socket, random)));
      }
      try {
        killAndStart(endpoint);
      } finally {
        isOver = true;
      }
      for (Future<?> client : clients) {
        client.get();
      }
      check(socket);
    } finally {
      Directories.delete(directory);
    }
  }

  private void killAndStart(EndpointProcess endpoint) throws IOException {
    Random random = new Random(SEED);
    for (int kill = 0; kill < KILLS; kill++) {
      long before = answers.get();
      Await.until("clients are served", () -> answers.get() > before);
      // The moment is what is random; nothing waits for it.
      LockSupport.parkNanos(random.nextLong(LONGEST_LIFE_NANOS));
      endpoint.kill();
      endpoint.start();
    }
    Await.until("more requests than kills", () -> keyed.size() > KILLS && outcomes.size() > KILLS);
  }

  private static void sql(Path socket, String sql) throws IOException {
    try (HttpConnection connection = HttpConnection.open(socket, "")) {
      connection.sql(sql).expect(200);
    }
  }

  private @Nullable Void run(Path socket, Random random) {
    while (!isOver) {
      long number = numbers.incrementAndGet();
      if (random.nextInt(3) == 0) {
        outcomes.put(number, transaction(socket, number));
      } else {
        String prefer =
            random.nextBoolean() ? "Prefer: respond-async" : "Prefer: wait=" + random.nextInt(60);
        insertOnce(socket, number, prefer);
        keyed.put(number, true);
      }
      answers.incrementAndGet();
    }
    return null;
  }

  private interface Attempt {
    /// @return null: it is to be tried again
    @Nullable String run(HttpConnection connection) throws IOException;
  }

  /// Tries until there is an answer. Whatever breaks the connection is the kill.
  private static String insist(Path socket, String what, Attempt attempt) {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    String last = "";
    while (System.nanoTime() - deadline < 0) {
      try (HttpConnection connection = HttpConnection.open(socket, "")) {
        String result = attempt.run(connection);
        if (result != null) {
          return result;
        }
        last = "to be tried again";
      } catch (IOException e) {
        last = e.toString();
      }
      LockSupport.parkNanos(1_000_000L);
    }
    throw new AssertionError(what + " has no answer: " + last);
  }

  private static void insertOnce(Path socket, long number, String prefer) {
    String sql = "insert into log (k) values (" + number + ")";
    insist(
        socket,
        "insert " + number,
        connection -> {
          HttpAnswer answer =
              connection.sql(sql, prefer, "Idempotency-Key: \"insert " + number + "\"");
          if (!answer.isWhole() || answer.status() == 409 || answer.status() == 503) {
            return null;
          }
          if (answer.status() == 202) {
            HttpAnswer job = connection.get(answer.header("Location") + "?wait=60").expect(200);
            String state = job.json().path("state").asText();
            // A statement that was interrupted without effect is sent again.
            return state.equals("succeeded") ? state : retried(state, job);
          }
          if (answer.status() == 410) {
            // It has committed, and a kill has lost its answer.
            assertEquals("committed", answer.state(), answer::toString);
            return "lost";
          }
          return Integer.toString(answer.expect(200).status());
        });
  }

  private static @Nullable String retried(String state, HttpAnswer job) {
    assertTrue(List.of("running", "queued", "interrupted").contains(state), job::toString);
    return null;
  }

  /// @return how it has ended
  private static String transaction(Path socket, long number) {
    String handle =
        insist(
            socket,
            "begin " + number,
            connection -> connection.post("/v1/transactions").expect(201).handle());
    try (HttpConnection connection = HttpConnection.open(socket, "")) {
      connection.sql("insert into log (k) values (" + number + ")", HttpConnection.ending(handle));
    } catch (IOException e) {
      // Its outcome is asked for.
      return outcome(socket, handle);
    }
    return outcome(socket, handle);
  }

  private static String outcome(Path socket, String handle) {
    return insist(
        socket,
        "outcome of " + handle,
        connection -> {
          HttpAnswer answer = connection.get("/v1/transactions/" + handle).expect(200);
          String state = answer.json().path("state").asText();
          return state.equals("committed") || state.equals("aborted")
              ? state
              : rolledBack(connection, handle);
        });
  }

  /// The request did not reach it: so it is still open.
  private static @Nullable String rolledBack(HttpConnection connection, String handle)
      throws IOException {
    HttpAnswer answer = connection.post("/v1/transactions/" + handle + "/rollback");
    return answer.status() == 200 && answer.state().equals("aborted") ? "aborted" : null;
  }

  private void check(Path socket) throws IOException {
    try (HttpConnection connection = HttpConnection.open(socket, "")) {
      HttpAnswer log = connection.sql("select k, count(*) from log group by k").expect(200);
      Map<Long, Long> rows = new ConcurrentHashMap<>();
      for (List<String> row : log.rows()) {
        rows.put(Long.valueOf(row.get(0)), Long.valueOf(row.get(1)));
      }
      keyed.keySet().forEach(number -> assertEquals(1L, rows.get(number), "insert " + number));
      outcomes.forEach((number, outcome) ->
          assertEquals(
              outcome.equals("committed") ? 1L : null, rows.get(number), "transaction " + number));
      System.out.println(
          keyed.size()
              + " inserts under keys, "
              + outcomes.size()
              + " transactions, of which "
              + outcomes.values().stream().filter("committed"::equals).count()
              + " committed");
    }
  }
}
