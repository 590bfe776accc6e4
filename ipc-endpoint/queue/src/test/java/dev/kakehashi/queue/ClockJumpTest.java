package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueDefinition.Schedule;
import dev.kakehashi.queue.deliver.GroupConsumers;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.order.QueueCore;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The wall clock jumps by an hour, either way: no lease ends early, no retry comes early, no schedule makes a task twice or never. And
/// time passes in which nobody asks for tasks.
class ClockJumpTest {
  private static final int HOUR = 3_600_000;

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

  @ParameterizedTest
  @ValueSource(ints = {-HOUR, HOUR})
  void shouldEndLeasesAndRetriesByTheTimeThatHasPassed(int jump) {
    host.create(options -> options.leaseMillis(60_000).backoff(40_000, 40_000, 0));
    host.enqueue("lent");
    host.enqueue("failed");
    LeasedTask lent = host.receiveOne();
    host.fail(host.receiveOne(), -1);
    host.wall += jump;
    host.advance(39_999);
    assertEquals(List.of(), host.receiveTexts(9));
    host.advance(1);
    assertEquals(List.of("failed"), host.receiveTexts(9));
    host.advance(19_999);
    assertEquals(List.of(), host.receiveTexts(9));
    host.queues.extend(lent.token(), 10_000);
    host.advance(9_999);
    host.complete(lent);
  }

  @ParameterizedTest
  @ValueSource(ints = {-HOUR, HOUR})
  void shouldMakeTasksOfAScheduleOnceEach(int jump) {
    long hour = Math.ceilDiv(host.wall, (long) HOUR) * HOUR;
    host.wall = hour + HOUR / 2;
    Schedule hourly = new Schedule("s", "0 * * * *", "UTC", LogHost.payload("now"));
    host.create(options -> options);
    host.define(LogHost.QUEUE, options -> options, List.of(), Map.of(), List.of(hourly));
    host.advance(HOUR);
    assertEquals(1, host.state().tasks().enqueued(), "one hour");
    host.wall += jump;
    host.advance(30_000); // the clock is looked at
    assertEquals(jump > 0 ? 2 : 1, host.state().tasks().enqueued(), "at the jump");
    host.advance(HOUR);
    // Back: the hour that comes a second time makes none. Forwards: the next one makes its own.
    assertEquals(jump > 0 ? 3 : 1, host.state().tasks().enqueued(), "an hour after the jump");
    host.advance(HOUR);
    assertEquals(jump > 0 ? 4 : 2, host.state().tasks().enqueued(), "two hours after the jump");
  }

  @Test
  void shouldWarnOnceAnHourOfAGroupThatNobodyReads() {
    host.create(options -> options);
    fill();
    assertEquals(0, warnings());
    host.advance(HOUR);
    fill();
    fill();
    assertEquals(1, warnings());
    host.advance(HOUR);
    fill();
    assertEquals(2, warnings());
    host.receive(1);
    host.advance(HOUR - 1);
    fill();
    assertEquals(2, warnings());
  }

  private int warnings() {
    QueueCore queue = Objects.requireNonNull(host.queues.center.queues.get(LogHost.QUEUE));
    return GroupConsumers.of(queue.groups.getFirst()).warnings;
  }

  /// More than a segment.
  private void fill() {
    NewTask task = LogHost.task("x".repeat(1 << 20));
    for (long bytes = 0; bytes <= TaskSegment.FULL; bytes += 1 << 20) {
      host.enqueue(task);
    }
  }
}
