package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.protocol.ErrorCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway") // what is null fails the test
class HostileCodeTest {
  private static final ApplicationOptions QUICK =
      new ApplicationOptions(200, 1_000, 1_000_000, 100, 100, 1 << 20, 1 << 20, 30);

  private final PlatformRig rig = new PlatformRig();
  private LoadedApplication shop;

  @BeforeAll
  void deploy() {
    shop =
        rig.system.load(
            rig.deploy(
                QUICK,
                UserJar.shop(
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
                        it.procedure("stops", Void.class, Void.class, (call, none) -> { stopped = true; return null; }).timeLimit(Duration.ofSeconds(20));
                        it.procedure("says_nothing", Void.class, Void.class, (call, none) -> { throw new Nasty(); });
                        it.procedure("opens", Void.class, Void.class, (call, none) -> { GATE.release(); return null; });
                        """
                            .replace("it.procedure(\"endless\"", "it.procedure(\"endless_call\"")
                            .replace("it.procedure(\"exits\"", "it.procedure(\"exits_call\""),
                        """
                        static volatile boolean stopped;
                        static final java.util.concurrent.Semaphore GATE = new java.util.concurrent.Semaphore(0);
                        static final ThreadLocal<long[]> LOCAL = ThreadLocal.withInitial(() -> new long[1]);
                        static long deep(long n) { return 1 + deep(n + 1); }
                        static class Nasty extends RuntimeException {
                          @Override public String getMessage() { throw new IllegalStateException("twice"); }
                        }
                        """)
                    .content()));
  }

  @AfterAll
  void close() {
    rig.close();
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, what);
      TimeUnit.MILLISECONDS.sleep(1);
    }
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
    await("it is disabled", () -> rig.system.disabled().containsKey("public.deaf"));
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
    await(
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
    assertTrue(rig.call(shop, "exits_call").failed().getMessage().contains("cannot end"));
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
      await(
          "a line of it",
          () -> other.system.log().stream().anyMatch(l -> l.line().contains("left-here")));
      await(
          "it has ended",
          () ->
              Thread.getAllStackTraces().keySet().stream()
                  .noneMatch(t -> t.getName().equals("left-here")));
    }
  }
}
