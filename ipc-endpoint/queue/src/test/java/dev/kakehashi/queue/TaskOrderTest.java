package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// In which order tasks are handed out: keys, fair keys, priorities, delays.
class TaskOrderTest {
  @TempDir Path directory;
  private LogHost host;

  @BeforeEach
  void open() {
    host = new LogHost(directory).start();
  }

  @AfterEach
  void shouldConserveCounts() {
    assertEquals(List.of(), host.problems());
    host.queues.close();
  }

  private static NewTask task(
      String text, @Nullable String key, @Nullable String fair, int priority, long runAt) {
    return new NewTask(LogHost.payload(text), key, fair, priority, runAt, null, 0);
  }

  @Test
  void shouldHandOutOneTaskOfAKeyAtATime() {
    host.create(QueueOptionsBuilder::ordered);
    host.enqueue(LogHost.keyed("a1", "a"));
    host.enqueue(LogHost.keyed("a2", "a"));
    host.enqueue(LogHost.keyed("b1", "b"));
    host.enqueue(LogHost.keyed("x", null));
    List<LeasedTask> first = host.receive(10);
    assertEquals(List.of("a1", "b1", "x"), first.stream().map(LogHost::text).toList());
    host.complete(first.get(0));
    assertEquals(List.of("a2"), host.receiveTexts(10));
  }

  @Test
  void shouldStopOnlyTheKeyWhoseHeadFails() {
    host.create(options -> options.ordered().backoff(1000, 1000, 0));
    host.enqueue(LogHost.keyed("a1", "a"));
    host.enqueue(LogHost.keyed("a2", "a"));
    host.enqueue(LogHost.keyed("b1", "b"));
    host.enqueue(LogHost.keyed("b2", "b"));
    host.fail(host.receiveOne(), -1);
    LeasedTask other = host.receiveOne();
    assertEquals("b1", LogHost.text(other));
    host.complete(other);
    assertEquals(List.of("b2"), host.receiveTexts(10));
    host.advance(1000);
    LeasedTask again = host.receiveOne();
    assertEquals("a1", LogHost.text(again));
    host.complete(again);
    assertEquals(List.of("a2"), host.receiveTexts(10));
  }

  @Test
  void shouldGoOnWithAKeyWhoseHeadIsDead() {
    host.create(options -> options.ordered().maxAttempts(1));
    host.enqueue(LogHost.keyed("a1", "a"));
    host.enqueue(LogHost.keyed("a2", "a"));
    host.fail(host.receiveOne(), -1);
    assertEquals(List.of("a2"), host.receiveTexts(10));
  }

  @Test
  void shouldKeepOrderOfKeysAcrossCrash() {
    host.create(QueueOptionsBuilder::ordered);
    for (int round = 0; round < 3; round++) {
      for (int key = 0; key < 5; key++) {
        host.enqueue(LogHost.keyed(key + "." + round, "key " + key));
      }
    }
    List<LeasedTask> first = host.receive(3);
    host.complete(first.get(1));
    host.queues.force();
    host = host.crash();
    Map<String, Integer> next = new HashMap<>(Map.of("key 1", 1));
    for (int count = 0; count < 14; ) {
      List<LeasedTask> tasks = host.receive(10);
      assertTrue(!tasks.isEmpty());
      for (LeasedTask each : tasks) {
        String key = each.key();
        int round = next.merge(String.valueOf(key), 1, Integer::sum) - 1;
        assertEquals("" + round, LogHost.text(each).substring(2));
        host.complete(each);
        count++;
      }
    }
  }

  @Test
  void shouldShareOutFairKeysByTheirWeights() {
    host.create(options -> options);
    host.define(
        LogHost.QUEUE, options -> options, List.of(), Map.of("big", 3.0, "half", 0.5), List.of());
    host.commit(changes -> {
      for (int each = 0; each < 700; each++) {
        changes.enqueue(LogHost.QUEUE, task("t", null, "big", 4, 0));
      }
      for (int each = 0; each < 200; each++) {
        changes.enqueue(LogHost.QUEUE, task("t", null, "small", 4, 0));
        changes.enqueue(LogHost.QUEUE, task("t", null, "half", 4, 0));
      }
    });
    Map<String, Integer> shares = new HashMap<>();
    for (LeasedTask each : host.receive(450)) {
      shares.merge(String.valueOf(each.fair()), 1, Integer::sum);
    }
    assertEquals(300, shares.getOrDefault("big", 0), 3.0);
    assertEquals(100, shares.getOrDefault("small", 0), 2.0);
    assertEquals(50, shares.getOrDefault("half", 0), 2.0);
    // Work-conserving: the rest of one takes all.
    assertEquals(650, host.receive(1000).size());
  }

  @Test
  void shouldNotHideOneTenantBehindAnothersBacklog() {
    host.create(options -> options);
    host.commit(changes -> {
      for (int each = 0; each < 20_000; each++) {
        changes.enqueue(LogHost.QUEUE, task("flood", null, "flood", 4, 0));
      }
    });
    host.enqueue(task("small", null, "small", 4, 0));
    assertTrue(host.receiveTexts(3).contains("small"));
  }

  @Test
  void shouldPreferPrioritiesAndAge() {
    host.create(options -> options.aging(1000));
    host.enqueue(task("low", null, null, 2, 0));
    host.enqueue(task("high", null, null, 5, 0));
    assertEquals("high", LogHost.text(host.receiveOne()));
    host.advance(3000);
    host.enqueue(task("high 2", null, null, 5, 0));
    // After three steps both count alike, and the older one goes first.
    assertEquals(List.of("low", "high 2"), host.receiveTexts(2));
  }

  @Test
  void shouldNotAgeIfSo() {
    host.create(options -> options.aging(0));
    host.enqueue(task("low", null, null, 2, 0));
    host.advance(100_000_000);
    host.enqueue(task("high", null, null, 3, 0));
    assertEquals(List.of("high", "low"), host.receiveTexts(2));
  }

  @Test
  void shouldDelayUntilTheWallClockSaysSo() {
    host.create(options -> options);
    host.enqueue(task("later", null, null, 4, host.wall + 60_000));
    assertEquals(1, host.state().tasks().delayed());
    LogHost.Call call = host.waiting(1, 200_000);
    host.wall -= 3_600_000;
    host.advance(90_000);
    assertEquals(0, call.answers);
    host.wall += 3_600_000;
    host.advance(30_000);
    assertEquals("later", LogHost.text(call.answer().getFirst()));
  }

  @Test
  void shouldKeepLeasesAndRetriesThroughClockJumps() {
    host.create(options -> options.leaseMillis(10_000).backoff(10_000, 10_000, 0));
    host.enqueue("a");
    host.enqueue("b");
    LeasedTask a = host.receiveOne();
    host.fail(host.receiveOne(), -1);
    host.wall += 3_600_000;
    host.advance(9_000);
    assertEquals(List.of(), host.receive(5));
    host.queues.extend(a.token(), 5_000);
    host.wall -= 2 * 3_600_000;
    host.advance(1_000);
    assertEquals(List.of("b"), host.receiveTexts(5));
    host.advance(4_001);
    assertEquals(List.of("a"), host.receiveTexts(5));
  }

  @Test
  void shouldHoldKeyBackUntilItsDelayedTaskIsDue() {
    host.create(QueueOptionsBuilder::ordered);
    host.enqueue(LogHost.keyed("a1", "a"));
    host.enqueue(task("a2", "a", null, 4, host.wall + 1000));
    host.enqueue(LogHost.keyed("a3", "a"));
    host.complete(host.receiveOne());
    assertEquals(List.of(), host.receive(5));
    host.advance(1001);
    LeasedTask second = host.receiveOne();
    assertEquals("a2", LogHost.text(second));
    host.complete(second);
    assertEquals(List.of("a3"), host.receiveTexts(5));
  }

  @Test
  void shouldClaimManyKeysAsQuicklyAsFew() {
    int keys = Integer.getInteger("kakehashi.queue.manyKeys", 5_000);
    host.create(QueueOptionsBuilder::ordered);
    List<String> expected = new ArrayList<>();
    host.commit(changes -> {
      for (int round = 0; round < 2; round++) {
        for (int key = 0; key < keys; key++) {
          changes.enqueue(LogHost.QUEUE, LogHost.keyed(round + "." + key, "key " + key));
        }
      }
    });
    List<String> got = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      for (int key = 0; key < keys; key++) {
        expected.add(round + "." + key);
      }
    }
    while (got.size() < 2 * keys) {
      List<LeasedTask> tasks = host.receive(500);
      host.commit(changes -> tasks.forEach(each -> changes.complete(each.token())));
      tasks.forEach(each -> got.add(LogHost.text(each)));
    }
    assertEquals(expected, got);
  }
}
