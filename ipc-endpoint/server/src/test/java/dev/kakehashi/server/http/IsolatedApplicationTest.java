package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// An application in a process of its own behind every door, while the process is killed at random: each call ends with its result or a
/// defined error, what was reported is there once, and nothing is left over.
class IsolatedApplicationTest {
  private static final int KILLS = Integer.getInteger("kakehashi.processKills", 2);
  private static final String SOURCE =
      """
      package shop;
      import dev.kakehashi.application.*;
      public final class Shop implements Application {
        record Entry(long id, String door) {}
        record Id(long id) {}
        public void define(Definitions it) {
          it.longFunction("next", x -> x + 1).immutable();
          it.longFunction("wild", x -> x + 1);
          it.procedure("place", Id.class, Id.class, (call, id) -> twice(call, id, "required"));
          it.procedure("place_alone", Id.class, Id.class, (call, id) -> twice(call, id, "own"))
              .transaction(TransactionMode.OWN);
          it.route(HttpMethod.POST, "/entries", Id.class, Id.class, (call, id) -> twice(call, id, "route"));
          it.handler("inbox", Id.class, (call, task) -> twice(call, task.value(), "handler")).concurrency(2);
        }
        static Id twice(Call call, Id id, String door) {
          call.table("entry", Entry.class).insert(new Entry(id.id(), door));
          call.table("copy", Entry.class).insert(new Entry(id.id(), door));
          return id;
        }
      }
      """;

  /// Error codes of a call whose process has gone; also those that a caller gets while the process begins again.
  private static final Set<String> DEFINED = Set.of("08006", "08001");

  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong ids = new AtomicLong();

  @Test
  void shouldEndEachCallOnceWhileItsProcessIsKilled() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("-Dkakehashi.seed=" + seed + " -Dkakehashi.processKills=" + KILLS);
    Random random = new Random(seed);
    try (HttpFixture door = HttpFixture.start()) {
      Session session = door.attach("alice");
      session.execute("create table entry (id int8 primary key, door text)");
      session.execute("create table copy (id int8 primary key, door text)");
      session.execute("create table numbers (i int8 primary key)");
      session.execute("insert into numbers select i from generate_series(1, 3000) i");
      session.execute("create queue inbox with (max_attempts = 1000)");
      door.alice()
          .send(
              "PUT /v1/applications/shop?isolation=process",
              ShopJar.of(SOURCE),
              "Content-Type: application/java-archive")
          .answer()
          .expect(201);
      List<CompletableFuture<Long>> clients = new ArrayList<>();
      clients.add(client(() -> functions(door, "next")));
      clients.add(client(() -> functions(door, "wild")));
      CompletableFuture<Long> required = client(() -> procedures(door, "place"));
      clients.add(required);
      clients.add(client(() -> procedures(door, "place_alone")));
      clients.add(client(() -> routes(door)));
      CompletableFuture<Long> tasks = client(() -> tasks(door));
      clients.add(tasks);
      long pid = -1;
      for (int kill = 0; kill < KILLS; kill++) {
        pid = pidAfter(pid, clients);
        Thread.sleep(random.nextInt(400));
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
      }
      assertTrue(pidAfter(pid, clients) > 0);
      over.set(true);
      for (CompletableFuture<Long> each : clients) {
        assertTrue(each.join() >= 0);
      }
      // The next call works, and the queue comes to its end.
      assertEquals(8, number(session, "select next(7)"));
      Await.until(
          "the end of the tasks",
          () ->
              number(session, "select count(*) from entry where door = 'handler'") == tasks.join());
      assertEquals(
          required.join(), number(session, "select count(*) from entry where door = 'required'"));
      assertEquals(
          0,
          number(
              session,
              "select count(*) from entry e full join copy c on c.id = e.id and c.door = e.door"
                  + " where e.id is null or c.id is null"));
      assertEquals(1, processes().size(), "one process");
      Await.until("old links are unmapped", () -> links() == 1);
      Await.until(
          "no transaction is open",
          () ->
              number(
                      session,
                      "select count(*) from kakehashi_catalog.transactions where has_writes")
                  == 0);
    }
    Await.until("the process ends with the endpoint", () -> processes().isEmpty());
    Await.until("its link, too", () -> links() == 0);
  }

  // ---- clients: each goes on until it is over, and counts what has succeeded ----

  /// A client.
  private interface Client {
    long run() throws Exception;
  }

  private static CompletableFuture<Long> client(Client body) {
    CompletableFuture<Long> end = new CompletableFuture<>();
    Thread.ofPlatform()
        .start(() -> {
          try {
            end.complete(body.run());
          } catch (Throwable t) {
            end.completeExceptionally(t);
          }
        });
    return end;
  }

  private static boolean isDefined(EndpointException e) {
    if (!DEFINED.contains(e.sqlstate())) {
      throw e;
    }
    return true;
  }

  private long functions(HttpFixture door, String function) {
    long done = 0;
    try (Session session = door.endpoint().attach("alice")) {
      while (!over.get()) {
        try {
          assertEquals(
              3000 * 3001 / 2 + 3000,
              number(session, "select sum(" + function + "(i))::int8 from numbers"));
          done++;
        } catch (EndpointException e) {
          assertTrue(isDefined(e));
        }
      }
    }
    return done;
  }

  private long procedures(HttpFixture door, String procedure) {
    long done = 0;
    try (Session session = door.endpoint().attach("alice")) {
      while (!over.get()) {
        long id = ids.incrementAndGet();
        try {
          assertEquals(id, number(session, "call " + procedure + "(" + id + ")"));
          done++;
        } catch (EndpointException e) {
          assertTrue(isDefined(e));
        }
      }
    }
    return done;
  }

  private long routes(HttpFixture door) throws IOException {
    long done = 0;
    try (HttpConnection connection =
        HttpConnection.open(door.endpoint().uri(), HttpConnection.ALICE)) {
      while (!over.get()) {
        String body = "{\"id\": " + ids.incrementAndGet() + "}";
        HttpAnswer answer =
            connection
                .send(
                    "POST /v1/apps/shop/entries",
                    body.getBytes(StandardCharsets.UTF_8),
                    "Content-Type: application/json")
                .answer();
        if (answer.status() == 200) {
          done++;
        } else {
          String sqlstate = answer.json().path("sqlstate").asText();
          assertTrue(DEFINED.contains(sqlstate), answer.toString());
        }
      }
    }
    return done;
  }

  private long tasks(HttpFixture door) {
    long done = 0;
    try (Session session = door.endpoint().attach("alice")) {
      while (!over.get() && done < 2_000) {
        session.execute(
            "select enqueue('inbox', '{\"id\": " + ids.incrementAndGet() + "}'::jsonb)");
        done++;
      }
    }
    return done;
  }

  private static long number(Session session, String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next(), sql);
      long number = rows.getLong(0);
      while (rows.next()) {
        throw new AssertionError("more than one row: " + sql);
      }
      return number;
    }
  }

  // ---- processes ----

  /// JVMs that this one has begun: those of applications. Long command lines cannot be read.
  private static List<Long> processes() {
    return ProcessHandle.current()
        .children()
        .filter(ProcessHandle::isAlive)
        .filter(child -> child.info().command().orElse("").endsWith("/java"))
        .map(ProcessHandle::pid)
        .toList();
  }

  /// The one process, when it is another one; a client that has failed is told at once.
  private static long pidAfter(long before, List<CompletableFuture<Long>> clients) {
    long[] found = new long[1];
    Await.until(
        "another process",
        () -> {
          clients.stream()
              .filter(CompletableFuture::isCompletedExceptionally)
              .forEach(CompletableFuture::join);
          List<Long> pids = processes();
          found[0] = pids.isEmpty() ? before : pids.getLast();
          return pids.size() == 1 && found[0] != before;
        });
    return found[0];
  }

  /// Links that are mapped here.
  private static long links() {
    try {
      return Files.readAllLines(Path.of("/proc/self/maps")).stream()
          .filter(line -> line.contains("/applications/application-"))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
