package dev.kakehashi.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition.Schedule;
import dev.kakehashi.queue.change.RecordWriter;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import dev.kakehashi.queue.system.Deadline;
import dev.kakehashi.queue.time.CronExpression;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes the tasks of one schedule of a queue. Guarded by the lock of the queue system.
///
/// The time for which a task was made is in the same record as the task. So a clock that goes back makes none for a second time. If times
/// were missed, because nothing ran or the clock went forward, one task is made for all of them.
///
/// Its deadline: the next time, by the wall clock.
final class ScheduleClock extends Deadline {
  private static final Logger LOG = LoggerFactory.getLogger(ScheduleClock.class);
  private static final long AGAIN_MILLIS = 1000;

  private final QueueCore queue;
  private final RecordWriter writer;
  private final Schedule schedule;
  private final CronExpression times;

  private ScheduleClock(
      QueueCore queue, RecordWriter writer, Schedule schedule, CronExpression times) {
    this.queue = queue;
    this.writer = writer;
    this.schedule = schedule;
    this.times = times;
  }

  /// Makes the clocks of a queue those of its definition.
  static void define(QueueCore queue, RecordWriter writer, @Nullable QueueDefinition definition) {
    QueueCenter center = queue.center;
    Map<String, Deadline> before = queue.clocks;
    if (before == null && (definition == null || definition.schedules().isEmpty())) {
      forgetFired(queue, writer, Map.of());
      return;
    }
    Map<String, Deadline> now = new HashMap<>(4);
    if (definition != null) {
      for (Schedule each : definition.schedules()) {
        if (before != null
            && before.get(each.name()) instanceof ScheduleClock known
            && known.schedule.equals(each)) {
          now.put(each.name(), known);
        } else {
          try {
            CronExpression times = new CronExpression(each.cron(), each.zone());
            now.put(each.name(), new ScheduleClock(queue, writer, each, times));
          } catch (EngineException e) {
            LOG.error("Schedule {} of queue {} makes no tasks", each.name(), queue.queueId, e);
          }
        }
      }
    }
    if (before != null) {
      before.forEach((name, clock) -> {
        if (!clock.equals(now.get(name))) {
          center.clock.disarmWall(clock);
        }
      });
    }
    queue.clocks = now.isEmpty() ? null : now;
    forgetFired(queue, writer, now);
    for (Deadline each : now.values()) {
      if (each.heapIndex < 0 && each instanceof ScheduleClock clock) {
        clock.begin();
      }
    }
  }

  /// A schedule that comes again under the same name has missed nothing.
  private static void forgetFired(QueueCore queue, RecordWriter writer, Map<String, Deadline> now) {
    Map<String, Long> fired = queue.fired;
    if (fired == null) {
      return;
    }
    for (String name : List.copyOf(fired.keySet())) {
      if (!now.containsKey(name)) {
        writer.add(List.of(new QueueOp.Fired(queue.queueId, name, -1)), _ -> {});
      }
    }
  }

  private void begin() {
    Map<String, Long> fired = queue.fired;
    Long last = fired == null ? null : fired.get(schedule.name());
    long now = queue.center.clock.wallMillis();
    if (last == null) {
      writer.add(List.of(new QueueOp.Fired(queue.queueId, schedule.name(), now)), _ -> {});
    }
    arm(last == null ? now : last);
  }

  private void arm(long after) {
    long next = times.next(after);
    if (next != Long.MAX_VALUE) {
      queue.center.clock.armWall(this, next);
    }
  }

  @Override
  public void reached() {
    if (queue.dropped || queue.clocks == null || queue.clocks.get(schedule.name()) != this) {
      return;
    }
    QueueCenter center = queue.center;
    long now = Math.max(due, center.clock.wallMillis());
    byte[] record =
        TaskRecord.encode(
            center.numbers.newTaskId(),
            center.clock.wallMillis(),
            schedule.payload(),
            null,
            null,
            NewTask.DEFAULT_PRIORITY,
            0,
            null,
            0,
            null);
    writer.add(
        List.of(
            new QueueOp.Enqueue(queue.queueId, record),
            new QueueOp.Fired(queue.queueId, schedule.name(), now)),
        failure -> {
          if (queue.dropped || queue.clocks == null || queue.clocks.get(schedule.name()) != this) {
            return;
          }
          if (failure == null) {
            arm(now);
          } else {
            center.clock.armWall(this, center.clock.wallMillis() + AGAIN_MILLIS);
          }
        });
  }
}
