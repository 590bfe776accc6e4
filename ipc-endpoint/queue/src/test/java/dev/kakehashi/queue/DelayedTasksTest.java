package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.queue.order.DelayedTasks;
import dev.kakehashi.queue.order.QueueCore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Many tasks for later: they take no entries before their time, and come when it has come, each once, through crashes.
class DelayedTasksTest {
  private static final Logger LOG = LoggerFactory.getLogger(DelayedTasksTest.class);
  private static final int TASKS = Integer.getInteger("kakehashi.queue.delayed", 20_000);
  private static final long SEED = Long.getLong("kakehashi.queue.seed", System.nanoTime());
  private static final int HOUR = 3_600_000;

  @TempDir Path directory;
  private final Random random = new Random(SEED);
  private LogHost host;

  @BeforeEach
  void open() {
    LOG.info("-Dkakehashi.queue.seed={}", SEED);
    host = new LogHost(directory).start();
    host.create(options -> options.leaseMillis(HOUR).maxAttempts(3));
  }

  @AfterEach
  void shouldConserveCountsThroughACrash() {
    assertEquals(List.of(), host.problems());
    host = host.crash();
    assertEquals(List.of(), host.problems());
    host.queues.force();
    host = host.crash();
    assertEquals(List.of(), host.problems());
    host.queues.close();
  }

  private static NewTask task(long runAt) {
    return new NewTask(LogHost.payload(""), null, null, NewTask.DEFAULT_PRIORITY, runAt, null, 0);
  }

  /// @return times by the tasks' numbers
  private Map<Long, Long> enqueue(int count, int within) {
    Map<Long, Long> times = new HashMap<>();
    for (int at = 0; at < count; at += 1000) {
      int most = Math.min(1000, count - at);
      host.commit(changes -> {
        for (int each = 0; each < most; each++) {
          // Not before the crash of a test, which takes a second.
          long least = within == HOUR ? 60_000 : 1;
          long runAt = host.wall + least + random.nextInt(within - (int) least);
          times.put(changes.enqueue(LogHost.QUEUE, task(runAt)), runAt);
        }
      });
    }
    return times;
  }

  private int entries() {
    QueueCore queue = Objects.requireNonNull(host.queues.center.queues.get(LogHost.QUEUE));
    return queue.groups.stream().mapToInt(each -> each.entries.size()).sum();
  }

  private List<LeasedTask> receiveAndComplete() {
    List<LeasedTask> tasks = host.receive(500);
    host.commit(changes -> tasks.forEach(each -> changes.complete(each.token())));
    return tasks;
  }

  @Test
  void shouldComeAtTheirTimesThroughCrashes() {
    Map<Long, Long> times = enqueue(TASKS, HOUR);
    assertEquals(TASKS, host.state().tasks().delayed());
    assertEquals(0, entries());
    Set<Long> seen = new HashSet<>();
    for (int step = 0; step < 80; step++) {
      host.advance(HOUR / 80 + 1);
      if (step % 10 == 3) {
        host.queues.force();
      }
      if (step % 10 == 7) {
        host = host.crash();
      }
      List<LeasedTask> tasks = receiveAndComplete();
      while (!tasks.isEmpty()) {
        for (LeasedTask each : tasks) {
          assertTrue(Objects.requireNonNull(times.get(each.taskId())) <= host.wall, "too early");
          assertTrue(seen.add(each.taskId()), "twice");
        }
        tasks = receiveAndComplete();
      }
      long due = times.values().stream().filter(each -> each <= host.wall).count();
      assertEquals(due, seen.size(), "at step " + step);
    }
    assertEquals(TASKS, seen.size());
    assertEquals(0, host.state().tasks().delayed());
  }

  @Test
  void shouldTakeLittleMemoryWhenAllAreDue() {
    int count = Math.max(TASKS, 2 * DelayedTasks.MOST_LOADED + 1);
    enqueue(count, 1000);
    host.advance(2000);
    assertEquals(DelayedTasks.MOST_LOADED, entries());
    assertEquals(DelayedTasks.MOST_LOADED, host.state().tasks().ready());
    assertEquals(count - DelayedTasks.MOST_LOADED, host.state().tasks().delayed());
    int got = 0;
    for (List<LeasedTask> tasks = receiveAndComplete(); !tasks.isEmpty(); ) {
      got += tasks.size();
      assertTrue(entries() <= DelayedTasks.MOST_LOADED);
      tasks = receiveAndComplete();
    }
    assertEquals(count, got);
  }

  @Test
  void shouldServeAConsumerThatWaitsAtTheMillisecond() {
    LogHost.Call call = host.waiting(1, 10_000);
    long runAt = host.wall + 2345;
    host.enqueue(task(runAt));
    host.advance(2344);
    assertEquals(0, call.answers);
    host.advance(1);
    assertEquals(1, call.answer().size());
    assertEquals(runAt, host.wall);
    // One whose time is over comes at once, and an earlier one after a later one in time, too.
    host.enqueue(task(host.wall - 1));
    host.advance(1);
    assertEquals(1, host.receive(5).size());
    host.enqueue(task(host.wall + 5000));
    host.enqueue(task(host.wall + 1000));
    host.advance(1000);
    assertEquals(1, host.receive(5).size());
  }

  @Test
  void shouldNotMindAClockThatJumps() {
    enqueue(100, 1000);
    host.enqueue(task(host.wall + HOUR));
    host.wall += HOUR / 2; // forwards: the first ones are due within the next look
    host.advance(30_000);
    assertEquals(100, receiveAndComplete().size());
    host.wall -= HOUR; // back: the last one has to wait for its time by the clock
    host.advance(HOUR);
    assertEquals(0, host.receive(500).size());
    host.advance(HOUR / 2);
    assertEquals(1, host.receive(500).size());
  }

  @Test
  void shouldBeCanceledMovedAndPurgedBeforeTheirTime() {
    List<Long> numbers = new ArrayList<>(enqueue(1000, HOUR).keySet());
    host.commit(changes ->
        numbers.subList(0, 300).forEach(each -> assertTrue(changes.cancel(LogHost.QUEUE, each))));
    assertEquals(700, host.state().tasks().delayed());
    var undone = host.queues.newChanges();
    numbers.subList(300, 400).forEach(each -> assertTrue(undone.cancel(LogHost.QUEUE, each)));
    undone.ended(false);
    host.settle();
    assertEquals(700, host.state().tasks().delayed());
    assertEquals(List.of(), host.problems());
    host.create(8, options -> options);
    host.commit(changes -> assertEquals(100, changes.move(LogHost.QUEUE, 8, false, 100, null, -1)));
    assertEquals(600, host.state().tasks().delayed());
    host = host.crash();
    assertEquals(600, host.state().tasks().delayed());
    host.commit(changes -> changes.purge(LogHost.QUEUE, false));
    assertEquals(0, host.state().tasks().delayed());
    enqueue(10, 1000);
    host.advance(1000);
    assertEquals(10, host.receive(500).size());
  }

  /// The first task for later of a segment is over before its time, and a restart follows: its time is nobody's any more.
  @Test
  void shouldComeAfterARestartThatFoundNoneLeft() {
    host.enqueue("keeps the segment");
    long canceled = host.enqueue(task(host.wall + HOUR));
    host.commit(changes -> assertTrue(changes.cancel(LogHost.QUEUE, canceled)));
    host.queues.force();
    host = host.crash();
    host.enqueue(task(host.wall + HOUR));
    host.enqueue(task(host.wall + 2 * HOUR));
    host.complete(host.receiveOne());
    assertEquals(List.of(), host.problems());
    host.advance(HOUR + 1000);
    host.complete(host.receiveOne());
    host.advance(HOUR);
    assertEquals(1, host.receive(500).size());
  }

  @Test
  void shouldComeToANewGroupToo() {
    enqueue(200, HOUR);
    host.queues.force();
    QueueDefinition.Group group = new QueueDefinition.Group(3, "g");
    host.define(LogHost.QUEUE, options -> options.leaseMillis(2 * HOUR), List.of(group));
    host.commit(changes -> changes.createGroup(LogHost.QUEUE, 3, true));
    host.define(
        LogHost.QUEUE,
        options -> options.leaseMillis(2 * HOUR),
        List.of(group, new QueueDefinition.Group(4, "h")));
    host.commit(changes -> changes.createGroup(LogHost.QUEUE, 4, false));
    enqueue(50, HOUR);
    host = host.crash();
    assertEquals(250, host.state(LogHost.QUEUE, 3).tasks().delayed());
    assertEquals(50, host.state(LogHost.QUEUE, 4).tasks().delayed());
    host.advance(HOUR);
    assertEquals(250, host.receive(3, 500).size());
    assertEquals(50, host.receive(4, 500).size());
  }
}
