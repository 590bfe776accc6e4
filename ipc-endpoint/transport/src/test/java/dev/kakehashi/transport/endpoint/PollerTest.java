package dev.kakehashi.transport.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.Threads;
import dev.kakehashi.transport.TransportConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The role of the poller, which goes to and fro between two threads. No timer wakes anybody here, so that a wake-up that is lost hangs the
/// test.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(120)
class PollerTest {
  private static final long NEVER_NANOS = TimeUnit.HOURS.toNanos(1);

  private Path root;
  private RuntimeDirectory runtime;
  private Doorbell doorbell;
  private Poller poller;
  private List<Thread> threads;

  /// Completed by the next look at the timers, which fails then. The poller's, while it runs.
  private @Nullable CompletableFuture<Boolean> failingLook;

  @BeforeEach
  void start() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    TransportConfig config = TransportConfig.defaults(root.resolve("run"));
    runtime = RuntimeDirectory.open(config);
    doorbell = Doorbell.create(runtime);
    Poller.ChannelInspector inspector =
        new Poller.ChannelInspector() {
          @Override
          public void checkWritable() {}

          @Override
          public long inspect(long nowNanos) {
            CompletableFuture<Boolean> failing = failingLook;
            if (failing != null) {
              failingLook = null;
              failing.complete(true);
              throw new StackOverflowError("of the test");
            }
            return Long.MAX_VALUE;
          }

          @Override
          public void queueFailed(RequestQueue queue) {}
        };
    poller =
        new Poller(
            doorbell,
            (queue, frame) -> {},
            inspector,
            now -> Long.MAX_VALUE,
            NEVER_NANOS,
            config.polling());
    threads = poller.threads();
    threads.forEach(Thread::start);
  }

  @AfterEach
  void stop() throws IOException {
    poller.stop();
    threads.forEach(Threads::joinUninterruptibly);
    doorbell.close();
    runtime.close();
    try (var paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Test
  void shouldServeOthersWhileDeferredWorkBlocks() throws Exception {
    for (int i = 0; i < 100; i++) {
      CountDownLatch served = new CountDownLatch(1);
      CompletableFuture<Boolean> waited = new CompletableFuture<>();
      Runnable work =
          () -> {
            try {
              served.await();
              waited.complete(true);
            } catch (InterruptedException e) {
              waited.completeExceptionally(e);
            }
          };
      poller.execute(() -> assertTrue(poller.tryDefer(work)));
      poller.execute(served::countDown);
      assertTrue(waited.get());
    }
  }

  @Test
  void shouldRunWhatDeferredWorkHandsToThePoller() throws Exception {
    for (int i = 0; i < 100; i++) {
      CompletableFuture<Boolean> handed = new CompletableFuture<>();
      Runnable work = () -> poller.execute(() -> handed.complete(true));
      poller.execute(() -> assertTrue(poller.tryDefer(work)));
      assertTrue(handed.get());
    }
  }

  @Test
  void shouldRunOnceWhatIsDeferredTwiceAndRefuseOtherWork() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    CompletableFuture<List<Boolean>> deferred = new CompletableFuture<>();
    CompletableFuture<Integer> counted = new CompletableFuture<>();
    Runnable work =
        () -> {
          runs.incrementAndGet();
          poller.execute(() -> counted.complete(runs.get()));
        };
    poller.execute(() ->
        deferred.complete(
            List.of(poller.tryDefer(work), poller.tryDefer(work), poller.tryDefer(() -> {}))));
    assertEquals(List.of(true, true, false), deferred.get());
    assertEquals(1, counted.get());
  }

  /// Either of its threads may lead when it happens; a role that is never given back would serve nobody.
  @Test
  void shouldGoOnWhenACommandOrDeferredWorkEndsWithAnError() throws Exception {
    for (int i = 0; i < 10; i++) {
      List<CompletableFuture<Boolean>> ran =
          List.of(new CompletableFuture<>(), new CompletableFuture<>());
      List<Runnable> failing =
          ran.stream()
              .<Runnable>map(each ->
                  () -> {
                    each.complete(true);
                    throw new StackOverflowError("of the test");
                  })
              .toList();
      poller.execute(() -> assertTrue(poller.tryDefer(failing.get(0))));
      poller.execute(failing.get(1));
      assertTrue(ran.get(0).get());
      assertTrue(ran.get(1).get());
      CompletableFuture<Boolean> served = new CompletableFuture<>();
      poller.execute(() -> served.complete(true));
      assertTrue(served.get());
    }
  }

  @Test
  void shouldGoOnWhenItsTimersEndWithAnError() throws Exception {
    CompletableFuture<Boolean> failed = new CompletableFuture<>();
    poller.execute(() -> failingLook = failed);
    poller.retime();
    assertTrue(failed.get());
    CompletableFuture<Boolean> served = new CompletableFuture<>();
    poller.execute(() -> served.complete(true));
    assertTrue(served.get());
  }

  @Test
  void shouldNotDeferOnAThreadThatIsNotThePollers() {
    assertFalse(poller.tryDefer(() -> {}));
    assertFalse(poller.unblocked());
  }

  @Test
  void shouldLeadAgainWhenDeferredWorkHasBlockedAndNobodyElseLeads() throws Exception {
    int led = 0;
    for (int i = 0; i < 100; i++) {
      CompletableFuture<List<Boolean>> answers = new CompletableFuture<>();
      CompletableFuture<Boolean> ranAgain = new CompletableFuture<>();
      Runnable again = () -> ranAgain.complete(true);
      poller.execute(() ->
          poller.tryDefer(() -> {
            boolean before = poller.tryDefer(again);
            answers.complete(List.of(before, poller.unblocked(), poller.tryDefer(again)));
          }));
      List<Boolean> got = answers.get();
      assertFalse(got.get(0));
      assertEquals(got.get(1), got.get(2), "who leads may defer");
      if (got.get(1)) {
        assertTrue(ranAgain.get());
        led++;
      }
    }
    assertTrue(led > 0, "the role was free for none");
  }

  @Test
  void shouldNotLeadAgainWhereAnotherThreadDoes() throws Exception {
    CountDownLatch blocks = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    CompletableFuture<Boolean> leads = new CompletableFuture<>();
    poller.execute(() ->
        poller.tryDefer(() -> {
          blocks.countDown();
          try {
            ends.await();
            leads.complete(poller.unblocked());
          } catch (InterruptedException e) {
            leads.completeExceptionally(e);
          }
        }));
    blocks.await();
    CompletableFuture<Boolean> served = new CompletableFuture<>();
    poller.execute(() -> {
      ends.countDown();
      // The role is this thread's until the other one has asked for it.
      served.complete(leads.join());
    });
    assertFalse(served.get());
  }

  /// Runs a command as a guest: until nobody leads it is left to the poller.
  private void asGuest(Runnable command) {
    Thread self = Thread.currentThread();
    CompletableFuture<Boolean> ran = new CompletableFuture<>();
    while (!ran.isDone()) {
      CompletableFuture<Boolean> tried = new CompletableFuture<>();
      poller.runOrExecute(() -> {
        if (Thread.currentThread().equals(self)) {
          command.run();
          ran.complete(true);
        }
        tried.complete(true);
      });
      assertTrue(tried.join());
    }
  }

  @Test
  void shouldRunOnTheCallingThreadWhenNobodyLeads() throws Exception {
    for (int i = 0; i < 20; i++) {
      List<Boolean> got = new ArrayList<>();
      CompletableFuture<Thread> handed = new CompletableFuture<>();
      asGuest(() -> {
        got.add(poller.tryDefer(() -> {}));
        got.add(poller.unblocked());
        poller.execute(() -> handed.complete(Thread.currentThread()));
      });
      assertEquals(List.of(false, false), got, "a guest never blocks");
      assertEquals(Thread.currentThread(), handed.get());
      CompletableFuture<Thread> served = new CompletableFuture<>();
      poller.execute(() -> served.complete(Thread.currentThread()));
      assertTrue(threads.contains(served.get()), "a guest gives the role back");
    }
  }

  @Test
  void shouldServeWhatComesWhileAGuestLeads() throws Exception {
    for (int i = 0; i < 20; i++) {
      CompletableFuture<Boolean> served = new CompletableFuture<>();
      asGuest(() -> {
        Thread other = new Thread(() -> poller.execute(() -> served.complete(true)));
        other.start();
        Threads.joinUninterruptibly(other);
      });
      assertTrue(served.get());
    }
  }

  /// A sleeping thread has to learn of a timer that is due earlier.
  @Test
  void shouldLookAtTimersThatAGuestHasSet() throws Exception {
    for (int i = 0; i < 20; i++) {
      CompletableFuture<Boolean> looked = new CompletableFuture<>();
      asGuest(() -> {
        failingLook = looked;
        poller.retime();
      });
      assertTrue(looked.get());
    }
  }

  @Test
  void shouldGoOnWhenAGuestsCommandEndsWithAnError() throws Exception {
    for (int i = 0; i < 20; i++) {
      CompletableFuture<Boolean> ran = new CompletableFuture<>();
      poller.runOrExecute(() -> {
        ran.complete(true);
        throw new StackOverflowError("of the test");
      });
      assertTrue(ran.get());
      CompletableFuture<Boolean> served = new CompletableFuture<>();
      poller.execute(() -> served.complete(true));
      assertTrue(served.get());
    }
  }

  @Test
  void shouldKeepTheOrderOfEachThreadsCalls() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("PollerTest: -Dkakehashi.seed=" + seed);
    int calls = 3000;
    List<List<Integer>> ran = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    int[] all = new int[1]; // of whoever has the role
    List<Thread> callers = new ArrayList<>();
    for (List<Integer> own : ran) {
      SplittableRandom random = new SplittableRandom(seed + callers.size());
      Thread caller =
          new Thread(() -> {
            for (int i = 0; i < calls; i++) {
              int number = i;
              Runnable command =
                  () -> {
                    own.add(number);
                    all[0]++;
                  };
              if (random.nextInt(4) == 0) {
                poller.execute(command);
              } else {
                poller.runOrExecute(command);
              }
              if (random.nextInt(50) == 0) {
                LockSupport.parkNanos(random.nextInt(300_000));
              }
            }
          });
      callers.add(caller);
    }
    callers.forEach(Thread::start);
    callers.forEach(Threads::joinUninterruptibly);
    CompletableFuture<Integer> counted = new CompletableFuture<>();
    poller.execute(() -> counted.complete(all[0]));
    assertEquals(ran.size() * calls, counted.get(), "two had the role at a time");
    for (List<Integer> own : ran) {
      for (int i = 0; i < calls; i++) {
        assertEquals(i, own.get(i), "out of order, seed " + seed);
      }
    }
  }

  @Test
  void shouldRunEverythingWhenRoleAndSleepChangeAtRandom() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("PollerTest: -Dkakehashi.seed=" + seed);
    AtomicInteger deferredRuns = new AtomicInteger();
    Runnable[] works = new Runnable[4];
    for (int i = 0; i < works.length; i++) {
      long parkNanos = i * 20_000L;
      works[i] =
          () -> {
            LockSupport.parkNanos(parkNanos);
            // Half of the runs say that they have blocked.
            if (deferredRuns.getAndIncrement() % 2 == 0) {
              poller.unblocked();
            }
          };
    }
    List<Thread> clients = new ArrayList<>();
    List<CompletableFuture<Integer>> results = new ArrayList<>();
    for (int client = 0; client < 4; client++) {
      SplittableRandom random = new SplittableRandom(seed + client);
      CompletableFuture<Integer> result = new CompletableFuture<>();
      results.add(result);
      Thread thread = new Thread(() -> result.complete(talk(random, works)));
      thread.setDaemon(true);
      clients.add(thread);
    }
    clients.forEach(Thread::start);
    for (CompletableFuture<Integer> result : results) {
      assertEquals(2000, result.get());
    }
    assertTrue(deferredRuns.get() > 0);
  }

  /// Hands commands to the poller one after another; pauses, so that it sleeps in between.
  private int talk(SplittableRandom random, Runnable[] works) {
    int done = 0;
    for (int each = 0; each < 2000; each++) {
      int i = each;
      Runnable work = works[random.nextInt(works.length)];
      boolean defers = random.nextInt(3) == 0;
      CountDownLatch ran = new CountDownLatch(1);
      Runnable command =
          () -> {
            if (defers) {
              poller.tryDefer(work);
            }
            // Some hand something on, which has to run, too.
            if (i % 5 == 0) {
              poller.execute(ran::countDown);
            } else {
              ran.countDown();
            }
          };
      if (random.nextBoolean()) {
        poller.runOrExecute(command);
      } else {
        poller.execute(command);
      }
      try {
        ran.await();
      } catch (InterruptedException e) {
        return done;
      }
      done++;
      if (random.nextInt(4) == 0) {
        LockSupport.parkNanos(random.nextInt(300_000));
      }
    }
    return done;
  }
}
