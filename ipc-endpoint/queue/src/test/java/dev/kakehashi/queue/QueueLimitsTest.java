package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.queue.LeasedTask;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Rates, buckets, concurrency, pause: of queues and of keys.
class QueueLimitsTest {
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

  private void fill(int count) {
    host.commit(changes -> {
      for (int each = 0; each < count; each++) {
        changes.enqueue(LogHost.QUEUE, LogHost.task("t" + each));
      }
    });
  }

  /// Times of starts, milliseconds, of consumers that always wait.
  private List<Long> starts(long millis) {
    List<Long> result = new ArrayList<>();
    long end = host.nanos + millis * 1_000_000;
    LogHost.Call call = host.waiting(1, 100_000);
    while (host.nanos < end) {
      if (call.answers > 0) {
        for (LeasedTask each : call.answer()) {
          result.add(host.nanos / 1_000_000);
          host.complete(each);
        }
        call = host.waiting(1, 100_000);
      } else {
        host.advance(1);
      }
    }
    Objects.requireNonNull(call.waiting).cancel();
    return result;
  }

  private static void assertWindows(List<Long> starts, double rate, int bucket) {
    for (int from = 0; from < starts.size(); from++) {
      for (int to = from; to < starts.size(); to++) {
        // A start at a whole millisecond may be due to a token of the next one's beginning.
        double seconds = (starts.get(to) - starts.get(from) + 1) / 1000.0;
        assertTrue(to - from + 1 <= bucket + rate * seconds + 1e-6, "from " + from + " to " + to);
      }
    }
  }

  @Test
  void shouldStartNoMoreThanBucketAndRateInAnyWindow() {
    host.create(options -> options.rate(100, 10));
    fill(300);
    List<Long> starts = starts(1500);
    assertWindows(starts, 100, 10);
    assertEquals(160, starts.size(), 2.0);
  }

  @Test
  void shouldBeginWithAnEmptyBucketAfterARestart() {
    host.create(options -> options.rate(100, 50));
    fill(300);
    List<Long> starts = starts(200);
    for (int each = 0; each < 5; each++) {
      host = host.crash();
      // A restart takes a second here, in which no token comes back.
      long begin = host.nanos / 1_000_000;
      List<Long> more = starts(100);
      assertTrue(more.size() <= 11, "" + more.size());
      assertTrue(more.getFirst() > begin);
      starts.addAll(more);
    }
    assertWindows(starts, 100, 50);
  }

  @Test
  void shouldRunNoMoreThanMaxConcurrent() {
    host.create(options -> options.maxConcurrent(2));
    fill(5);
    List<LeasedTask> tasks = host.receive(10);
    assertEquals(2, tasks.size());
    LogHost.Call call = host.waiting(10, 10_000);
    assertEquals(0, call.answers);
    host.complete(tasks.get(0));
    assertEquals(1, call.answer().size());
  }

  @Test
  void shouldRunNoMoreThanTheKeysLimits() {
    host.create(options -> options.keyMaxConcurrent(2));
    host.commit(changes -> {
      for (int each = 0; each < 5; each++) {
        changes.enqueue(LogHost.QUEUE, LogHost.keyed("a" + each, "a"));
      }
      changes.enqueue(LogHost.QUEUE, LogHost.keyed("b", "b"));
    });
    List<LeasedTask> tasks = host.receive(10);
    assertEquals(List.of("a0", "a1", "b"), tasks.stream().map(LogHost::text).toList());
    host.complete(tasks.get(1));
    assertEquals(List.of("a2"), host.receiveTexts(10));
  }

  @Test
  void shouldStartTasksOfAKeyAtItsRate() {
    host.create(options -> options.keyRate(10, 1));
    host.advance(1000);
    host.commit(changes -> {
      for (int each = 0; each < 40; each++) {
        changes.enqueue(LogHost.QUEUE, LogHost.keyed("a" + each, "a"));
      }
    });
    List<Long> starts = starts(2000);
    assertWindows(starts, 10, 1);
    assertEquals(20, starts.size(), 1.0);
    assertEquals(20, (int) host.state().tasks().ready(), 1.0);
  }

  @Test
  void shouldHandOutNothingWhilePaused() {
    host.create(options -> options.paused(true));
    fill(1);
    LogHost.Call call = host.waiting(1, 10_000);
    host.advance(5_000);
    assertEquals(0, call.answers);
    host.define(LogHost.QUEUE, options -> options, List.of());
    assertEquals(1, call.answer().size());
  }

  @Test
  void shouldHandOutNothingAtRateZeroUntilItIsChanged() {
    host.create(options -> options.rate(0, 1));
    fill(1);
    LogHost.Call call = host.waiting(1, 10_000);
    host.advance(5_000);
    assertEquals(0, call.answers);
    host.define(LogHost.QUEUE, options -> options.rate(1000, 1), List.of());
    host.advance(5);
    assertEquals(1, call.answer().size());
  }
}
