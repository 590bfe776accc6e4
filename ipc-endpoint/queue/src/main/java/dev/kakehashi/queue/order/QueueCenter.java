package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.queue.file.SegmentChores;
import dev.kakehashi.queue.file.SegmentFiles;
import dev.kakehashi.queue.file.SegmentWriter;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.system.QueueClock;
import dev.kakehashi.queue.system.QueueLock;
import dev.kakehashi.queue.system.QueueRun;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// All queues, with the parts that they share. It has no logic of these: it says which groups and delayed tasks are to be looked at before
/// the lock is let go.
public final class QueueCenter implements QueueLock.Work {
  public final QueueRun run = new QueueRun();
  public final QueueLock lock = new QueueLock(run, this);
  public final QueueClock clock = new QueueClock(run, lock);
  public final SegmentFiles files;
  public final SegmentChores chores;
  public final SegmentWriter segmentWriter;
  public final TaskNumbers numbers;
  public final LogApplier log = new LogApplier(this);
  final TaskDelivery delivery;

  /// By their numbers. Written under the lock, or under the one that orders commits ([#place]); read by any thread.
  public final Map<Long, QueueCore> queues = new ConcurrentHashMap<>();

  /// Queues of the committed catalogue. Written under the lock; read also under the lock that orders commits.
  private volatile Map<Long, QueueDefinition> definitions = Map.of();

  /// Throws for a URL that tasks may not be pushed to; set before the start, read by any thread after it.
  private Consumer<String> pushTargets = _ -> {};

  /// Groups that have a consumer and perhaps a task for it; guarded by the lock.
  private final Set<GroupCore> matches = new LinkedHashSet<>();

  /// Guarded by the lock.
  private final Set<DelayedTasks> loads = new LinkedHashSet<>();

  /// @param incarnation number of this run
  public QueueCenter(SegmentFiles files, long incarnation, TaskDelivery delivery) {
    this.files = files;
    this.delivery = delivery;
    chores = new SegmentChores(files);
    numbers = new TaskNumbers(incarnation);
    segmentWriter = new SegmentWriter(lock, files, chores);
  }

  public boolean isStarted() {
    return run.isStarted();
  }

  // ---- the end of a critical section ----

  /// A group may have a task for a consumer: it is looked at before the lock is let go.
  public void toMatch(GroupCore group) {
    if (run.isStarted() && group.consumers.areWaiting()) {
      matches.add(group);
    }
  }

  /// Delayed tasks whose time has come have room now.
  void toLoad(DelayedTasks tasks) {
    loads.add(tasks);
  }

  /// Hands out what can be handed out, writes what is to be written, sets the alarm.
  @Override
  public void settle() {
    while (!matches.isEmpty() || !loads.isEmpty()) {
      if (!loads.isEmpty()) {
        DelayedTasks next = loads.iterator().next();
        loads.remove(next);
        next.refill();
        continue;
      }
      GroupCore group = matches.iterator().next();
      matches.remove(group);
      group.consumers.match();
    }
    QueueHost to = run.hostIfStarted();
    if (to == null) {
      return;
    }
    if (chores.hasSealed()) {
      List<TaskSegment> full = chores.takeSealed();
      lock.later(() -> to.execute(() -> segmentWriter.write(full)));
    }
    clock.setAlarm(to);
  }

  @Override
  public @Nullable Runnable nextWrite() {
    return delivery.nextWrite();
  }

  // ---- queues ----

  Map<Long, QueueDefinition> definitions() {
    return definitions;
  }

  public void setDefinitions(Map<Long, QueueDefinition> to) {
    definitions = to;
  }

  /// A queue is made; under the lock that orders commits.
  public void place(long queueId, @Nullable QueueCore queue) {
    QueueCore made = queue == null ? new QueueCore(this, queueId) : queue;
    made.define(definitions.get(queueId));
    queues.putIfAbsent(queueId, made);
  }

  /// The entry that a token names, if it is the present lease; else null.
  public @Nullable TaskEntry leased(LeaseToken token) {
    GroupCore group = group(token.queueId(), token.groupId());
    TaskEntry entry = group == null ? null : group.entries.get(token.position());
    return entry != null && entry.isLeasedBy(token) ? entry : null;
  }

  /// @return null: the queue has no such group, or is gone
  public @Nullable GroupCore group(long queueId, long groupId) {
    QueueCore queue = queues.get(queueId);
    return queue == null ? null : queue.group(groupId);
  }

  // ---- targets of pushes ----

  /// @param check throws for a URL that tasks may not be pushed to
  public void checkPushTargets(Consumer<String> check) {
    pushTargets = check;
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException INSUFFICIENT_PRIVILEGE, INVALID_PARAMETER_VALUE
  public void requirePushTarget(String url) {
    pushTargets.accept(url);
  }
}
