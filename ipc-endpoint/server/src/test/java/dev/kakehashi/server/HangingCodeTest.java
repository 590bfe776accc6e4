package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Code of applications that does not come back: others are served, and the endpoint ends and begins again with all that was committed.
@Timeout(600)
class HangingCodeTest {
  private static final String SOURCE =
      """
      package shop;
      import dev.kakehashi.application.*;
      import java.lang.constant.*;
      import java.util.concurrent.Semaphore;
      import java.util.concurrent.locks.ReentrantLock;
      public final class Shop implements Application {
        static final ReentrantLock LOCK = new ReentrantLock();
        static final Semaphore HELD = new Semaphore(0);
        @Override public void define(Definitions it) {
          it.longFunction("locks", (long v) -> { LOCK.lock(); try { return v; } finally { LOCK.unlock(); } });
          it.procedure("keeps", Void.class, Void.class, (call, none) -> {
            Thread keeper = new Thread(() -> { LOCK.lock(); HELD.release(); while (true) { new Semaphore(0).acquireUninterruptibly(); } });
            keeper.setDaemon(true);
            keeper.start();
            HELD.acquireUninterruptibly();
            return null;
          });
          it.procedure("hooks", Void.class, Void.class, (call, none) -> {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> new Semaphore(0).acquireUninterruptibly(), "left-hook"));
            return null;
          });
          it.procedure("ends_all", Void.class, Void.class, (call, none) -> {
            try {
              java.lang.invoke.MethodHandle exit = (java.lang.invoke.MethodHandle) MethodHandleDesc.ofMethod(
                  DirectMethodHandleDesc.Kind.STATIC, ClassDesc.of("java.lang.System"), "exit",
                  MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int))
                  .resolveConstantDesc(java.lang.invoke.MethodHandles.lookup());
              exit.invoke(3);
            } catch (Throwable e) {
              throw new IllegalStateException(e);
            }
            return null;
          });
        }
      }
      """;

  @TempDir private Path directory;

  private static String one(Session session, String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      return rows.getString(0);
    }
  }

  private void deploy(Session session) throws IOException {
    session.execute("create table orders (id bigint primary key)");
    session.execute(
        "create application shop from "
            + TestJar.literal(directory.resolve("jar"), SOURCE)
            + " with (function_time_limit = '200ms')");
    session.execute("insert into orders select i from generate_series(1, 1000) g(i)");
  }

  @Test
  void shouldServeOthersAndEndWhileFunctionsWaitForALock()
      throws IOException, InterruptedException, ExecutionException {
    try (EndpointProcess endpoint = EndpointProcess.open("worker_threads=2", "memory=64MB");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      try (Session session = endpoint.attach()) {
        deploy(session);
        session.execute("call keeps()");
        List<Future<String>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          calls.add(
              clients.submit(() -> {
                try (Session own = endpoint.attach()) {
                  return assertThrows(
                          EndpointException.class,
                          () -> one(own, "select sum(locks(id))::text from orders"))
                      .sqlstate();
                }
              }));
        }
        for (Future<String> call : calls) {
          assertEquals("57014", call.get());
        }
        assertEquals("1000", one(session, "select count(*)::text from orders where id > 0"));
        session.execute("insert into orders values (2000)");
      }
      long before = System.nanoTime();
      endpoint.stop();
      assertTrue(System.nanoTime() - before < Duration.ofSeconds(40).toNanos(), "an orderly stop");
      endpoint.start();
      try (Session session = endpoint.attach()) {
        assertEquals("1001", one(session, "select count(*)::text from orders"));
      }
    }
  }

  @Test
  void shouldEndWhenCodeEndsTheProcess() throws IOException, InterruptedException {
    try (EndpointProcess endpoint =
        EndpointProcess.open("worker_threads=2", "memory=64MB", "stop_limit=3s")) {
      try (Session session = endpoint.attach()) {
        deploy(session);
        assertThrows(EndpointException.class, () -> session.execute("call ends_all()"));
      }
      endpoint.awaitEnd();
      endpoint.start();
      try (Session session = endpoint.attach()) {
        assertEquals("1000", one(session, "select count(*)::text from orders"));
      }
    }
  }

  @Test
  void shouldEndAndSayWhyWhenItsStopHangs() throws IOException, InterruptedException {
    try (EndpointProcess endpoint =
        EndpointProcess.open("worker_threads=2", "memory=64MB", "stop_limit=4s")) {
      try (Session session = endpoint.attach()) {
        deploy(session);
        session.execute("call hooks()");
      }
      endpoint.stop();
      assertTrue(log(endpoint).contains("stop_limit"), "the log says why");
      assertTrue(log(endpoint).contains("left-hook"), "the log names what hangs");
      endpoint.start();
      try (Session session = endpoint.attach()) {
        assertEquals("1000", one(session, "select count(*)::text from orders"));
      }
    }
  }

  private static String log(EndpointProcess endpoint) throws IOException {
    StringBuilder text = new StringBuilder();
    try (Stream<Path> files = Files.walk(endpoint.dataDirectory().resolve("logs"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        text.append(Files.readString(file));
      }
    }
    return text.toString();
  }

  @Test
  void shouldNotBeReadyWhileAllWorkersAreHeld() throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    try (TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(2).build())) {
      for (int i = 0; i < 2; i++) {
        assertEquals("", HttpInterface.obstacle(scheduler));
        scheduler.submit(context -> {
          try {
            end.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return null;
        });
      }
      Await.until("the watchdog looks", () -> !HttpInterface.obstacle(scheduler).isEmpty());
      assertTrue(HttpInterface.obstacle(scheduler).startsWith("all workers"));
      end.countDown();
      Await.untilEquals("obstacle", "", () -> HttpInterface.obstacle(scheduler));
    }
  }
}
