package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway") // what is null fails the test
class HostileCodeTest {
  private static final ApplicationOptions QUICK =
      new ApplicationOptions(200, 1_000, 1_000_000, 100, 100, 1 << 20, 1 << 20, 30);

  private final PlatformRig rig = new PlatformRig();
  private LoadedApplication shop;

  @BeforeAll
  void deploy() {
    shop = rig.system.load(rig.deploy(QUICK, shopJar()));
  }

  private static dev.kakehashi.engine.api.application.ApplicationSystem.JarContent shopJar() {
    return UserJar.shop(
            """
            it.longFunction("endless", (long v) -> { while (v >= 0) { v = (v + 1) & 0xFF; } return v; });
            it.longFunction("deaf", (long v) -> { GATE.acquireUninterruptibly(); return v; });
            it.longFunction("exits", (long v) -> { System.exit(3); return v; });
            it.longFunction("remembers", (long v) -> {
              LOCAL.get()[0] += v; return LOCAL.get()[0];
            });
            it.procedure("endless", Void.class, Long.class, (call, none) -> {
              long v = 0; while (v >= 0) { v = (v + 1) & 0xFF; } return v;
            });
            it.procedure("long_loop", Void.class, Long.class, (call, none) -> {
              long v = 0; while (!stopped) { v++; } return v;
            }).timeLimit(Duration.ofSeconds(20));
            it.procedure("stubborn", Void.class, Long.class, (call, none) -> {
              long v = 0;
              while (true) { try { for (;;) { v++; } } catch (Exception e) { v = 0; } }
            });
            it.procedure("deep", Void.class, Long.class, (call, none) -> deep(0));
            it.procedure("hungry", Void.class, Long.class, (call, none) -> (long) new long[Integer.MAX_VALUE].length);
            it.procedure("exits", Void.class, Void.class, (call, none) -> { Runtime.getRuntime().halt(3); return null; });
            it.procedure("fine", Void.class, Integer.class, (call, none) -> 7).timeLimit(Duration.ofSeconds(20));
            it.procedure("refers", Void.class, Void.class, (call, none) -> { java.util.function.IntConsumer c = System::exit; c.accept(3); return null; });
            it.procedure("refers_to_one", Void.class, Void.class, (call, none) -> { java.util.function.IntConsumer c = Runtime.getRuntime()::halt; c.accept(3); return null; });
            it.procedure("reflects", Void.class, Void.class, (call, none) -> { System.class.getMethod("exit", int.class).invoke(null, 3); return null; });
            it.procedure("reflects_on_one", Void.class, Void.class, (call, none) -> { Runtime.class.getMethod("halt", int.class).invoke(Runtime.getRuntime(), 3); return null; });
            it.procedure("handles", Void.class, Void.class, (call, none) -> { try { java.lang.invoke.MethodHandles.lookup().findStatic(System.class, "exit", java.lang.invoke.MethodType.methodType(void.class, int.class)).invoke(3); } catch (RuntimeException e) { throw e; } catch (Throwable e) { throw new Exception(e); } return null; });
            it.procedure("unreflects", Void.class, Void.class, (call, none) -> { try { java.lang.invoke.MethodHandles.lookup().unreflect(System.class.getMethod("exit", int.class)).invoke(3); } catch (RuntimeException e) { throw e; } catch (Throwable e) { throw new Exception(e); } return null; });
            it.procedure("reflects_rightly", Void.class, Integer.class, (call, none) -> (Integer) Shop.class.getDeclaredMethod("hidden", int.class).invoke(null, 3));
            it.procedure("stops", Void.class, Void.class, (call, none) -> { stopped = true; return null; }).timeLimit(Duration.ofSeconds(20));
            it.procedure("says_nothing", Void.class, Void.class, (call, none) -> { throw new Nasty(); });
            it.procedure("opens", Void.class, Void.class, (call, none) -> { GATE.release(); return null; });
            it.longFunction("locks", (long v) -> { if (v == 0) return 0; LOCK.lock(); try { return v; } finally { LOCK.unlock(); } });
            it.longFunction("parks", (long v) -> { while (v > 0 && !stopped) { java.util.concurrent.locks.LockSupport.park(); } return v; });
            it.longFunction("reads", (long v) -> { try { return v == 0 ? 0 : new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress()).accept().getInputStream().read(); } catch (java.io.IOException e) { throw new RuntimeException(e); } });
            it.longFunction("enters", (long v) -> { if (v == 0) return 0; synchronized (MONITOR) { return v; } });
            it.longFunction("computes", (long v) -> v == 0 ? 0 : java.math.BigInteger.valueOf(3).pow(2_000_000).toString().length());
            it.procedure("keeps", Void.class, Void.class, (call, none) -> {
              Thread keeper = new Thread(() -> {
                LOCK.lock();
                synchronized (MONITOR) { HELD.release(); END.acquireUninterruptibly(); }
                LOCK.unlock();
              });
              keeper.setDaemon(true);
              keeper.setContextClassLoader(null);
              keeper.start();
              HELD.acquireUninterruptibly();
              return null;
            }).timeLimit(Duration.ofSeconds(20));
            it.procedure("lets_go", Void.class, Void.class, (call, none) -> { END.release(); return null; }).timeLimit(Duration.ofSeconds(20));
            """
                .replace("it.procedure(\"endless\"", "it.procedure(\"endless_call\"")
                .replace("it.procedure(\"exits\"", "it.procedure(\"exits_call\""),
            """
            static volatile boolean stopped;
            static final java.util.concurrent.Semaphore GATE = new java.util.concurrent.Semaphore(0);
            static final ThreadLocal<long[]> LOCAL = ThreadLocal.withInitial(() -> new long[1]);
            static final java.util.concurrent.locks.ReentrantLock LOCK = new java.util.concurrent.locks.ReentrantLock();
            static final Object MONITOR = new Object();
            static final java.util.concurrent.Semaphore HELD = new java.util.concurrent.Semaphore(0);
            static final java.util.concurrent.Semaphore END = new java.util.concurrent.Semaphore(0);
            private static int hidden(int v) { return v + 4; }
            static long deep(long n) { return 1 + deep(n + 1); }
            static class Nasty extends RuntimeException {
              @Override public String getMessage() { throw new IllegalStateException("twice"); }
            }
            """)
        .content();
  }

  @AfterAll
  void close() {
    rig.close();
  }

  private EngineException functionFailure(int index, long argument) {
    try (LoadedApplication.Use use = shop.use()) {
      return assertThrows(
          EngineException.class,
          () -> use.scalar(index).callLongs(new long[][] {{argument}}, new long[1], 1));
    }
  }

  private void assertServes() {
    assertEquals(7, rig.call(shop, "fine").succeeded().get(0)[0]);
  }

  @Test
  void shouldStopAFunctionThatLoops() {
    EngineException e = functionFailure(0, 1);
    assertEquals(ErrorCode.QUERY_CANCELED, e.code());
    assertTrue(e.getMessage().contains("function endless"), e.getMessage());
    assertEquals(false, Thread.currentThread().isInterrupted(), "the worker is free again");
  }

  /// Known ones are carried by the worker, others are not: it comes back from both.
  @ParameterizedTest
  @CsvSource({
    "4, 0", "4, 40", // a lock that another thread keeps
    "5, 0", "5, 40", // parks again and again
    "6, 0", "6, 40", // waits for a connection
    "7, 0", "7, 40", // a monitor
    "8, 0", // runs in the JDK, which nobody stops
  })
  void shouldComeBackFromCodeThatWaits(int index, int callsBefore) {
    try (PlatformRig other = new PlatformRig()) {
      LoadedApplication its = other.system.load(other.deploy(QUICK, shopJar()));
      other.call(its, "keeps").succeeded();
      try (LoadedApplication.Use use = its.use()) {
        for (int i = 0; i < callsBefore; i++) {
          use.scalar(index).callLongs(new long[][] {{0}}, new long[1], 1);
        }
      }
      for (int i = 0; i < 2; i++) {
        long before = System.nanoTime();
        long[] results = {-1};
        try (LoadedApplication.Use use = its.use()) {
          LoadedApplication.ScalarCode code = use.scalar(index);
          EngineException e =
              assertThrows(
                  EngineException.class, () -> code.callLongs(new long[][] {{1}}, results, 1));
          assertEquals(ErrorCode.QUERY_CANCELED, e.code());
          assertTrue(e.getMessage().contains("function_time_limit"), e.getMessage());
        }
        assertTrue(
            System.nanoTime() - before < Duration.ofSeconds(5).toNanos(), "within its limit");
        assertEquals(-1, results[0]);
      }
      other.call(its, "lets_go").succeeded();
      assertEquals(7, other.call(its, "fine").succeeded().get(0)[0]);
    }
  }

  @Test
  void shouldDisableAFunctionThatDoesNotStop() throws InterruptedException {
    AtomicReference<EngineException> failure = new AtomicReference<>();
    Thread worker =
        Thread.ofPlatform()
            .start(() -> {
              try (LoadedApplication.Use use = shop.use()) {
                LoadedApplication.ScalarCode code = use.scalar(1);
                code.callLongs(new long[][] {{1}}, new long[1], 1);
                code.callLongs(new long[][] {{1}}, new long[1], 1);
              } catch (EngineException e) {
                failure.set(e);
              }
            });
    Await.until("it is disabled", () -> rig.system.disabled().containsKey("public.deaf"));
    try (LoadedApplication.Use use = shop.use()) {
      assertEquals(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          assertThrows(EngineException.class, () -> use.scalar(1)).code());
    }
    rig.call(shop, "opens").succeeded();
    worker.join();
    assertEquals(ErrorCode.QUERY_CANCELED, failure.get().code());
    assertServes();
  }

  @Test
  void shouldStopCallsThatLoop() throws InterruptedException {
    EngineException e = rig.call(shop, "endless_call").failed();
    assertEquals(ErrorCode.QUERY_CANCELED, e.code());
    assertEquals(ErrorCode.QUERY_CANCELED, rig.call(shop, "stubborn").failed().code());
    Await.until(
        "loops end",
        () -> rig.system.calls().stream().mapToInt(state -> state.running()).sum() == 0);
    assertServes();
  }

  @Test
  void shouldServeOthersWhileCallsLoop() {
    List<PlatformRig.Outcome> loops = new ArrayList<>();
    for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
      loops.add(rig.call(shop, "long_loop"));
    }
    assertServes();
    assertTrue(loops.stream().noneMatch(PlatformRig.Outcome::isOver), "served among loops");
    rig.call(shop, "stops").succeeded();
    loops.forEach(PlatformRig.Outcome::succeeded);
  }

  @Test
  void shouldSurviveRecursionAndHunger() {
    assertEquals(ErrorCode.LIMIT_EXCEEDED, rig.call(shop, "deep").failed().code());
    assertEquals(ErrorCode.OUT_OF_MEMORY, rig.call(shop, "hungry").failed().code());
    assertServes();
  }

  @Test
  void shouldNotEndTheProcess() {
    EngineException function = functionFailure(2, 1);
    assertTrue(function.getMessage().contains("cannot end the process"), function.getMessage());
    for (String way :
        List.of(
            "exits_call",
            "refers",
            "refers_to_one",
            "reflects",
            "reflects_on_one",
            "handles",
            "unreflects")) {
      String message = rig.call(shop, way).failed().getMessage();
      assertTrue(message.contains("cannot end the process"), way + ": " + message);
    }
    assertEquals(7, rig.call(shop, "reflects_rightly").succeeded().get(0)[0]);
    assertServes();
  }

  @Test
  void shouldSurviveAnExceptionThatFailsItself() {
    EngineException e = rig.call(shop, "says_nothing").failed();
    assertTrue(e.getMessage().contains("shop.Shop$Nasty"), e.getMessage());
  }

  @Test
  void shouldKeepValuesOfThreads() {
    try (LoadedApplication.Use use = shop.use()) {
      LoadedApplication.ScalarCode code = use.scalar(3);
      long[] results = new long[2];
      code.callLongs(new long[][] {{1, 2}}, results, 2);
      assertEquals(3, results[1]);
    }
  }

  @Test
  void shouldEndThreadsThatAVersionLeavesBehind() throws InterruptedException {
    try (PlatformRig other = new PlatformRig()) {
      LoadedApplication leaving =
          other.system.load(
              other.deploy(
                  UserJar.shop(
                          """
                          it.procedure("leaves", Void.class, Void.class, (call, none) -> {
                            Thread thread = new Thread(() -> { while (true) { BLACKHOLE++; } }, "left-here");
                            thread.setDaemon(true);
                            thread.start();
                            return null;
                          });
                          """,
                          "static volatile long BLACKHOLE;")
                      .content()));
      other.call(leaving, "leaves").succeeded();
      other.system.define(List.of());
      Await.until(
          "a line of it",
          () -> other.system.log().stream().anyMatch(l -> l.line().contains("left-here")));
      Await.until(
          "it has ended",
          () ->
              Thread.getAllStackTraces().keySet().stream()
                  .noneMatch(t -> t.getName().equals("left-here")));
    }
  }
}
