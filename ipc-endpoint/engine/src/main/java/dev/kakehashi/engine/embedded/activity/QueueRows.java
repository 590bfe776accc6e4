package dev.kakehashi.engine.embedded.activity;

import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition.Group;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.engine.api.queue.QueueState.TaskCounts;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.TaskView;
import dev.kakehashi.engine.api.queue.TaskView.Lease;
import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.QueueTables;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Role;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Rows of the system tables about queues. A role with a privilege on a queue sees its counts; a role with SELECT sees its tasks.
public final class QueueRows {
  /// Tasks of one queue that are shown, the oldest first.
  private static final int MOST_TASKS = 10_000;

  /// Bytes of payloads that one look at the tasks may hold.
  private static final long MOST_BYTES = 64L << 20;

  private static final long EPOCH_MILLIS = 946_684_800_000L;

  private final QueueSystem system;
  private final CatalogSnapshot catalog;
  private final Permissions permissions;
  private final List<Queue> queues;
  private final List<@Nullable Object[]> rows = new ArrayList<>();

  private QueueRows(QueueSystem system, CatalogNames names, long role) {
    this.system = system;
    this.catalog = names.catalog();
    this.permissions = new Permissions(catalog, role);
    this.queues = names.queues();
  }

  /// @param tableId of [QueueTables]
  public static List<@Nullable Object[]> of(
      int tableId, QueueSystem system, CatalogNames names, long role) {
    QueueRows all = new QueueRows(system, names, role);
    switch (tableId) {
      case QueueTables.QUEUES -> all.addQueues();
      case QueueTables.QUEUE_GROUPS -> all.addGroups();
      case QueueTables.TASKS -> all.addTasks();
      default -> all.addLeases();
    }
    return all.rows;
  }

  private boolean sees(Queue queue, int privileges) {
    return (permissions.on(ObjectKind.QUEUE, queue.rights()) & privileges) != 0;
  }

  private Map<Long, List<QueueState>> states() {
    Map<Long, List<QueueState>> byQueue = new HashMap<>();
    for (QueueState state : system.states()) {
      byQueue.computeIfAbsent(state.queueId(), id -> new ArrayList<>(1)).add(state);
    }
    return byQueue;
  }

  // ---- queues: the counts of their groups together ----

  private void addQueues() {
    Map<Long, List<QueueState>> states = states();
    for (Queue queue : queues) {
      if (sees(queue, ObjectKind.QUEUE.all())) {
        addQueue(queue, sum(queue, states.getOrDefault(queue.queueId(), List.of())));
      }
    }
  }

  private static QueueState sum(Queue queue, List<QueueState> groups) {
    QueueState sum =
        new QueueState(
            queue.queueId(), 0, TaskCounts.NONE, 0, 0, 0, queue.options().limits().rate(), 0, 0);
    for (QueueState each : groups) {
      sum =
          new QueueState(
              queue.queueId(),
              0,
              sum.tasks().plus(each.tasks()),
              Math.max(sum.oldestReadyMillis(), each.oldestReadyMillis()),
              Math.max(sum.oldestLeaseMillis(), each.oldestLeaseMillis()),
              sum.waiting() + each.waiting(),
              each.enforcedRate(),
              sum.missedWakeups() + each.missedWakeups(),
              Math.max(sum.fileBytes(), each.fileBytes()));
    }
    return sum;
  }

  private void addQueue(Queue queue, QueueState state) {
    QueueOptions options = queue.options();
    Queue dead = catalog.queue(options.retry().deadLetter());
    Role owner = catalog.roles().role(queue.rights().owner());
    rows.add(
        new @Nullable Object[] {
          queue.schema(),
          queue.name(),
          owner == null ? null : owner.name(),
          options.paused(),
          state.tasks().ready(),
          state.tasks().delayed(),
          state.tasks().leased(),
          state.tasks().dead(),
          state.tasks().done(),
          state.tasks().canceled(),
          state.tasks().enqueued(),
          age(state.oldestReadyMillis()),
          age(state.oldestLeaseMillis()),
          rate(options.limits().rate()),
          rate(state.enforcedRate()),
          (long) state.waiting(),
          state.missedWakeups(),
          state.fileBytes(),
          Duration.ofMillis(options.leaseMillis()),
          (long) options.retry().maxAttempts(),
          Duration.ofMillis(options.retry().minBackoffMillis()),
          Duration.ofMillis(options.retry().maxBackoffMillis()),
          (long) options.retry().maxDoublings(),
          age(options.retry().ageLimitMillis()),
          dead == null ? null : dead.schema() + "." + dead.name(),
          (long) options.limits().bucketSize(),
          limit(options.limits().maxConcurrent()),
          rate(options.keyLimits().rate()),
          (long) options.keyLimits().bucketSize(),
          limit(options.keyLimits().maxConcurrent()),
          options.orderByKey() ? "key" : "none",
          age(options.agingMillis()),
          options.push().target(),
          Duration.ofMillis(options.push().deadlineMillis()),
          options.retry().jitter(),
          state.tasks().deadLetters()
        });
  }

  private static @Nullable Duration age(long millis) {
    return millis == 0 ? null : Duration.ofMillis(millis);
  }

  private static @Nullable Double rate(double rate) {
    return rate < 0 ? null : (Double) rate;
  }

  private static @Nullable Long limit(int limit) {
    return limit == 0 ? null : (Long) (long) limit;
  }

  // ---- groups ----

  private void addGroups() {
    Map<Long, List<QueueState>> states = states();
    for (Queue queue : queues) {
      if (!sees(queue, ObjectKind.QUEUE.all())) {
        continue;
      }
      for (QueueState state : states.getOrDefault(queue.queueId(), List.of())) {
        rows.add(
            new @Nullable Object[] {
              queue.schema(),
              queue.name(),
              group(queue, state.groupId()),
              state.tasks().ready(),
              state.tasks().delayed(),
              state.tasks().leased(),
              state.tasks().dead(),
              state.tasks().done(),
              state.tasks().canceled(),
              state.tasks().enqueued(),
              age(state.oldestReadyMillis()),
              age(state.oldestLeaseMillis()),
              rate(state.enforcedRate()),
              (long) state.waiting(),
              state.missedWakeups(),
              state.fileBytes(),
              state.tasks().deadLetters()
            });
      }
    }
  }

  private static @Nullable String group(Queue queue, long groupId) {
    if (groupId == QueueDefinition.NO_GROUP) {
      return null;
    }
    for (Group group : queue.definition().groups()) {
      if (group.groupId() == groupId) {
        return group.name();
      }
    }
    return null;
  }

  // ---- tasks ----

  private void addTasks() {
    long[] bytes = {0};
    for (Queue queue : queues) {
      if (!sees(queue, Privilege.SELECT.bit())) {
        continue;
      }
      int[] left = {MOST_TASKS};
      system.tasks(
          queue.queueId(),
          task -> {
            bytes[0] += task.payload().bytes().length;
            if (left[0]-- == 0 || bytes[0] > MOST_BYTES) {
              return false;
            }
            addTask(queue, task);
            return true;
          });
    }
  }

  private void addTask(Queue queue, TaskView task) {
    byte[] payload = task.payload().bytes();
    rows.add(
        new @Nullable Object[] {
          queue.schema(),
          queue.name(),
          group(queue, task.groupId()),
          task.taskId(),
          task.position(),
          task.state().name(),
          (long) task.attempts(),
          task.order().key(),
          task.order().fair(),
          (long) task.order().priority(),
          micros(task.enqueuedMillis()),
          task.runAtMillis() == 0 ? null : (Long) micros(task.runAtMillis()),
          task.lastError(),
          task.payload().json() ? new String(payload, StandardCharsets.UTF_8) : null,
          (long) payload.length
        });
  }

  private void addLeases() {
    Map<Long, Queue> seen = new HashMap<>();
    for (Queue queue : queues) {
      if (sees(queue, Privilege.SELECT.bit())) {
        seen.put(queue.queueId(), queue);
      }
    }
    system.leases(task -> {
      Queue queue = seen.get(task.queueId());
      Lease lease = task.lease();
      if (queue != null && lease != null) {
        rows.add(
            new @Nullable Object[] {
              queue.schema(),
              queue.name(),
              group(queue, task.groupId()),
              task.taskId(),
              task.position(),
              (long) task.attempts(),
              task.order().key(),
              lease.holder(),
              micros(lease.endMillis())
            });
      }
    });
  }

  private static long micros(long millis) {
    return (millis - EPOCH_MILLIS) * 1000;
  }
}
