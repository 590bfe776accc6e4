package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // what is null fails the test
class VersionChangeTest {
  /// With all that usually keeps a class loader: a thread's values, statics, lambdas, records, a process.
  private static JarContent jar(int version) {
    return UserJar.shop(
            """
            it.procedure("version", Void.class, Integer.class, (call, none) -> {
              int before = Helper.VERSION;
              call.table("orders", Order.class).find(1);
              LOCAL.set(new Order(1, "x", null));
              return before == Helper.VERSION ? before : -1;
            });
            it.longFunction("version_of", (long v) -> { LOCAL.set(new Order(v, "x", null)); return Helper.VERSION; });
            it.function("half", Order.class, String.class, order -> order.customer());
            it.procedure("waits", Void.class, Integer.class, (call, none) -> { GATE.acquire(); return Helper.VERSION; })
              .transaction(TransactionMode.NONE);
            it.procedure("opens", Void.class, Void.class, (call, none) -> { GATE.release(); return null; });
            it.process("ticker", () -> context -> context.isEnding() ? ApplicationProcess.Next.END : ApplicationProcess.Next.WAIT);
            """,
            """
            record Order(long id, String customer, BigDecimal total) {}
            static final ThreadLocal<Order> LOCAL = new ThreadLocal<>();
            static final java.util.concurrent.Semaphore GATE = new java.util.concurrent.Semaphore(0);
            static final class Helper { static final int VERSION = Integer.parseInt("%d"); }
            """
                .formatted(version))
        .content();
  }

  @Test
  void shouldEndCallsInTheVersionThatTheyBeganIn() throws InterruptedException {
    try (PlatformRig rig = new PlatformRig()) {
      ApplicationDefinition first = rig.version(1, 1, ApplicationOptions.DEFAULT, jar(1));
      ApplicationDefinition second = rig.version(1, 2, ApplicationOptions.DEFAULT, jar(2));
      rig.system.define(List.of(first));
      LoadedApplication old = rig.system.load(first);
      PlatformRig.Outcome waiting = rig.call(old, "waits");
      rig.system.define(List.of(second));
      assertEquals(2, rig.call(rig.system.load(second), "version").succeeded().get(0)[0]);
      assertEquals(1, rig.call(old, "version").succeeded().get(0)[0], "who is late is served");
      rig.call(old, "opens").succeeded();
      assertEquals(1, waiting.succeeded().get(0)[0]);
      Await.until(
          "the old version is let go",
          () -> rig.system.calls().stream().allMatch(c -> c.version() == 2));
      assertEquals(1, rig.call(old, "version").succeeded().get(0)[0], "also who comes after it");
      assertNull(waiting.failure);
    }
  }

  @Test
  void shouldEndWhatDoesNotEndWhenTheDrainIsOver() {
    ApplicationOptions quick =
        new ApplicationOptions(300, 10, 1_000, 10, 10, 1 << 20, 1 << 20, 1_000);
    try (PlatformRig rig = new PlatformRig()) {
      ApplicationDefinition first = rig.version(1, 1, quick, jar(1));
      rig.system.define(List.of(first));
      PlatformRig.Outcome waiting = rig.call(rig.system.load(first), "waits");
      rig.system.define(List.of());
      assertEquals(ErrorCode.QUERY_CANCELED, waiting.failed().code());
    }
  }

  @Test
  void shouldRefuseAVersionThatDefinesSomethingElseThanAtItsDeployment() {
    try (PlatformRig rig = new PlatformRig()) {
      ApplicationDefinition definition =
          rig.version(
              1,
              1,
              ApplicationOptions.DEFAULT,
              UserJar.shop(
                      """
                      it.longFunction("f" + System.getProperty("kakehashi.test.times", ""), (long v) -> v);
                      System.setProperty("kakehashi.test.times", "x");
                      """,
                      "")
                  .content());
      assertEquals(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          assertThrows(EngineException.class, () -> rig.system.load(definition)).code());
    } finally {
      System.clearProperty("kakehashi.test.times");
    }
  }

  @Test
  void shouldLetEveryLoaderGoWhileCallsGoOn() throws InterruptedException {
    int versions = Integer.getInteger("kakehashi.redeployments", 8);
    JarContent[] jars = {jar(0), jar(1)};
    try (PlatformRig rig = new PlatformRig()) {
      AtomicReference<ApplicationDefinition> now = new AtomicReference<>();
      AtomicReference<Throwable> wrong = new AtomicReference<>();
      AtomicInteger calls = new AtomicInteger();
      now.set(rig.version(1, 0, ApplicationOptions.DEFAULT, jars[0]));
      rig.system.define(List.of(now.get()));
      List<Thread> clients = new ArrayList<>();
      AtomicInteger stop = new AtomicInteger();
      for (int c = 0; c < 2; c++) {
        clients.add(
            Thread.ofPlatform()
                .start(() -> {
                  try {
                    while (stop.get() == 0) {
                      ApplicationDefinition seen = now.get();
                      LoadedApplication loaded = rig.system.load(seen);
                      Object version = rig.call(loaded, "version").succeeded().get(0)[0];
                      assertEquals(seen.version().number() % 2, version);
                      long[] results = new long[64];
                      try (LoadedApplication.Use use = loaded.use()) {
                        use.scalar(0).callLongs(new long[][] {new long[64]}, results, 64);
                      }
                      for (long each : results) {
                        assertEquals(seen.version().number() % 2, each);
                      }
                      calls.incrementAndGet();
                    }
                  } catch (Throwable t) {
                    wrong.compareAndSet(null, t);
                  }
                }));
      }
      long metaspace = 0;
      for (int v = 1; v <= versions; v++) {
        ApplicationDefinition next = rig.version(1, v, ApplicationOptions.DEFAULT, jars[v % 2]);
        rig.system.define(List.of(next));
        now.set(next);
        int seen = calls.get();
        Await.until("calls go on", () -> calls.get() > seen + 2 || wrong.get() != null);
        if (v == versions / 2) {
          awaitCollected(rig);
          metaspace = metaspace();
        }
      }
      stop.set(1);
      for (Thread client : clients) {
        client.join();
      }
      if (wrong.get() != null) {
        throw new AssertionError(wrong.get());
      }
      awaitCollected(rig);
      assertTrue(
          metaspace() < metaspace + (2 << 20), "metaspace " + metaspace + " to " + metaspace());
      rig.system.define(List.of());
      now.set(null);
      Await.until(
          "the last loader is collected",
          () -> {
            System.gc();
            return rig.system.loadersAlive() == 0;
          });
    }
  }

  /// All but the loader of the present version.
  private static void awaitCollected(PlatformRig rig) throws InterruptedException {
    Await.until(
        "old loaders are collected",
        () -> {
          System.gc();
          return rig.system.loadersAlive() <= 1;
        });
  }

  private static long metaspace() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getName().equals("Metaspace"))
        .map(MemoryPoolMXBean::getUsage)
        .mapToLong(usage -> usage.getUsed())
        .sum();
  }
}
