package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Short calls on the thread that reads requests.
@Timeout(60)
final class HereCallsTest {
  /// More than it takes until calls count as short.
  private static final int CALLS = 300;

  private static final int ATTEMPTS = 20;

  private final PlatformRig rig = new PlatformRig();
  private final Lender lender = new Lender();

  /// A thread that lends itself, as the poller does: what is deferred runs when it says so.
  private static final class Lender implements BlockingExecutor {
    private final Thread owner = Thread.currentThread();
    private final ArrayDeque<Runnable> deferred = new ArrayDeque<>(); // of the owner
    private int turns;

    @Override
    public boolean tryDefer(Runnable work) {
      if (!Thread.currentThread().equals(owner)) {
        return false;
      }
      if (!deferred.contains(work)) {
        deferred.add(work);
      }
      return true;
    }

    @Override
    public boolean unblocked() {
      return Thread.currentThread().equals(owner);
    }

    void turn() {
      for (Runnable next = deferred.poll(); next != null; next = deferred.poll()) {
        turns++;
        next.run();
      }
    }
  }

  private final BlockingExecutor lent = rig.system.lent(lender);

  private LoadedApplication loaded;

  @BeforeEach
  void deploy() {
    loaded =
        rig.system.load(
            rig.deploy(
                UserJar.shop(
                        """
                        it.procedure("name", Void.class, String.class, (call, none) -> Thread.currentThread().isVirtual() + " " + carrier()).transaction(TransactionMode.NONE);
                        it.procedure("waits", Void.class, String.class, (call, none) -> {
                          if (hold) GATE.await();
                          return carrier();
                        }).transaction(TransactionMode.NONE);
                        it.procedure("loops", Void.class, Void.class, (call, none) -> {
                          while (hold) Thread.onSpinWait();
                          return null;
                        }).transaction(TransactionMode.NONE);
                        it.procedure("hold", Void.class, Void.class, (call, none) -> { hold = true; return null; }).transaction(TransactionMode.NONE);
                        it.procedure("release", Void.class, Void.class, (call, none) -> { hold = false; GATE.countDown(); return null; }).transaction(TransactionMode.NONE);
                        """,
                        """
                        static volatile boolean hold;
                        static final java.util.concurrent.CountDownLatch GATE = new java.util.concurrent.CountDownLatch(1);
                        static String carrier() { String it = Thread.currentThread().toString(); return it.substring(it.indexOf('@') + 1); }
                        """)
                    .content()));
  }

  @AfterEach
  void close() {
    rig.close();
  }

  /// Calls until it counts as short.
  private void warmUp(String name) {
    for (int i = 0; i < CALLS; i++) {
      PlatformRig.Outcome call = rig.call(loaded, name);
      lender.turn();
      call.succeeded();
    }
  }

  @Test
  void shouldRunShortCallsOnTheLentThread() {
    List<String> carriers = List.of();
    int turns = 0;
    String here = "true " + Thread.currentThread().getName();
    List<String> expected = Collections.nCopies(8, here);
    // On a busy machine calls and turns may take long.
    for (int attempt = 0; attempt < ATTEMPTS && !carriers.equals(expected); attempt++) {
      warmUp("name");
      int before = lender.turns;
      List<PlatformRig.Outcome> calls = new ArrayList<>();
      for (int i = 0; i < expected.size(); i++) {
        calls.add(rig.call(loaded, "name"));
      }
      lender.turn();
      turns = lender.turns - before;
      carriers = calls.stream().map(call -> (String) call.succeeded().getFirst()[0]).toList();
    }
    assertEquals(expected, carriers);
    assertEquals(1, turns);
  }

  @Test
  void shouldGiveTheThreadBackWhenACallWaits() {
    warmUp("waits");
    rig.call(loaded, "hold").succeeded();
    PlatformRig.Outcome waiting = rig.call(loaded, "waits");
    lender.turn();
    assertFalse(waiting.isOver());
    rig.call(loaded, "release").succeeded();
    assertFalse(Thread.currentThread().getName().equals(waiting.succeeded().getFirst()[0]));
  }

  @Test
  void shouldRelieveATurnThatACallHoldsUp() throws InterruptedException {
    warmUp("name");
    warmUp("loops");
    rig.call(loaded, "hold").succeeded();
    PlatformRig.Outcome looping = rig.call(loaded, "loops");
    PlatformRig.Outcome after = rig.call(loaded, "name");
    CountDownLatch flushed = new CountDownLatch(1);
    assertTrue(lent.tryDefer(flushed::countDown));
    Thread relieved =
        Thread.ofPlatform()
            .start(() -> {
              after.succeeded();
              boolean isFlushed = await(flushed);
              if (isFlushed && !looping.isOver()) {
                rig.call(loaded, "release").succeeded();
              }
            });
    lender.turn();
    relieved.join();
    looping.succeeded();
    // It has been long, so the next one goes the usual way.
    int turns = lender.turns;
    rig.call(loaded, "loops").succeeded();
    assertEquals(turns, lender.turns);
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
