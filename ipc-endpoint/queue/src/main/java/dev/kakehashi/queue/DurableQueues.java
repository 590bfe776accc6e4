package dev.kakehashi.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.api.queue.TaskView;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.change.LeaseEnding;
import dev.kakehashi.queue.change.PlacedChanges;
import dev.kakehashi.queue.change.TransactionChanges;
import dev.kakehashi.queue.deliver.Deliveries;
import dev.kakehashi.queue.deliver.GroupConsumers;
import dev.kakehashi.queue.deliver.Waiter;
import dev.kakehashi.queue.file.SegmentFiles;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskNumbers;
import dev.kakehashi.queue.record.OpCodec;
import dev.kakehashi.queue.system.QueueLock;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The durable queues of one data directory. Thread-safe.
///
/// Tasks are appended to segments in the order of commits. A group's order is a chain through them, kept by links; so memory holds the ends
/// of chains, and what is lent, delayed or dead. Every change of a task's state is made by a record of the log, in the order of the log,
/// when it is durable; only leases and what waits are in memory alone. The file of states has the number of the last change in the files,
/// so each change is applied once, and replay comes to the state that was.
public final class DurableQueues implements QueueSystem {
  /// Thirty days.
  private static final long MAX_LEASE_MILLIS = 2_592_000_000L;

  final QueueCenter center;
  private final QueueFiles files;
  private final Deliveries deliveries;
  private final PlacedChanges placed;
  private volatile boolean closed;

  private DurableQueues(Path directory) {
    files = new QueueFiles(directory);
    deliveries = new Deliveries(new SegmentFiles(directory), files.newIncarnation(0));
    center = deliveries.center;
    placed = deliveries.placed;
    files.open(center);
  }

  /// Opens the queues of a directory, which is made if need be.
  ///
  /// @throws EngineException DATA_CORRUPTED, IO_ERROR, DISK_FULL
  public static DurableQueues open(Path directory) {
    return new DurableQueues(directory);
  }

  /// As the engine wants it.
  public static QueueOpener opener() {
    return DurableQueues::open;
  }

  // ---- for the store ----

  @Override
  public void replay(byte[] bytes, int offset, int length) {
    ByteBuffer from = ByteBuffer.wrap(bytes, offset, length);
    List<TaskSegment> full;
    center.lock.enter();
    try {
      long sequence = sequence(from);
      center.log.apply(OpCodec.decode(from), sequence);
      full = center.chores.takeSealed();
    } finally {
      center.lock.exit();
    }
    for (TaskSegment each : full) {
      center.segmentWriter.write(each);
    }
  }

  private static long sequence(ByteBuffer from) {
    if (from.remaining() < OpCodec.HEADER) {
      throw new EngineException(ErrorCode.DATA_CORRUPTED, "changes of queues end early");
    }
    return from.getLong();
  }

  @Override
  public QueueChanges recovered(byte[] bytes, int offset, int length) {
    ByteBuffer from = ByteBuffer.wrap(bytes, offset, length);
    center.lock.enter();
    try {
      sequence(from);
      return TransactionChanges.recovered(placed, OpCodec.decode(from));
    } finally {
      center.lock.exit();
    }
  }

  @Override
  public void durable(long record) {
    if (!placed.hasUpTo(record)) {
      return;
    }
    center.lock.enter();
    try {
      placed.applyUpTo(record);
      deliveries.endWaits(record);
    } finally {
      // The thread is one that flushes: records of here go into its next group, and nobody is
      // woken.
      center.lock.exit();
    }
  }

  @Override
  public synchronized void force() {
    center.log.requireSound();
    files.force(center);
  }

  @Override
  public synchronized List<Path> holdFiles() {
    return files.hold(center);
  }

  @Override
  public synchronized void releaseFiles() {
    files.release(center);
  }

  // ---- life ----

  @Override
  public void start(QueueHost host, List<QueueDefinition> queues) {
    center.lock.enter();
    try {
      TaskNumbers numbers = center.numbers;
      if (numbers.seenIncarnation() >= numbers.incarnation()) {
        numbers.setIncarnation(files.newIncarnation(numbers.seenIncarnation()));
      }
      placed.start();
      define(queues);
      center.clock.start(host);
      for (QueueCore queue : center.queues.values()) {
        queue.nextToGive = queue.next;
        for (GroupCore each : List.copyOf(queue.groups)) {
          each.start();
        }
        ScheduleClock.define(queue, deliveries.writer, queue.definition());
      }
      center.clock.lookAtWall();
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  @Override
  public void define(List<QueueDefinition> queues) {
    Map<Long, QueueDefinition> now = new HashMap<>();
    for (QueueDefinition each : queues) {
      now.put(each.queueId(), each);
    }
    center.lock.enter();
    try {
      center.setDefinitions(now);
      for (QueueCore queue : center.queues.values()) {
        QueueDefinition definition = now.get(queue.queueId);
        if (!Objects.equals(definition, queue.definition())) {
          queue.define(definition);
          if (center.isStarted()) {
            queue.groups.forEach(GroupCore::optionsChanged);
            ScheduleClock.define(queue, deliveries.writer, definition);
          }
        }
      }
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  // ---- transactions ----

  @Override
  public QueueChanges newChanges() {
    return new TransactionChanges(placed);
  }

  // ---- consumers ----

  @Override
  public Waiting receive(ReceiveRequest request, Listener listener) {
    EngineException refusal = refusal(request);
    if (refusal != null) {
      listener.failed(refusal);
      return () -> {};
    }
    center.lock.enter();
    try {
      GroupCore group = center.group(request.queueId(), request.groupId());
      if (group == null) {
        center.lock.later(() ->
            listener.failed(
                new EngineException(
                    ErrorCode.UNDEFINED_OBJECT, "the queue has no such group, or is gone")));
        return () -> {};
      }
      GroupConsumers consumers = GroupConsumers.of(group);
      Waiter waiter = new Waiter(consumers, request, listener);
      if (!request.completed().isEmpty() && !complete(waiter)) {
        return waiter;
      }
      deliveries.holders.came(waiter);
      consumers.receive(waiter);
      return waiter;
    } finally {
      center.lock.exit();
    }
  }

  private @Nullable EngineException refusal(ReceiveRequest request) {
    if (closed) {
      return shuttingDown();
    }
    if (center.log.failure() != null) {
      return center.log.failure();
    }
    if (request.max() < 1 || request.max() > ReceiveRequest.MAX_TASKS) {
      return new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "a consumer takes 1 to " + ReceiveRequest.MAX_TASKS + " tasks, not " + request.max());
    }
    if (request.leaseMillis() < 0 || request.leaseMillis() > MAX_LEASE_MILLIS) {
      return new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "a lease is 0 to " + MAX_LEASE_MILLIS + " ms, not " + request.leaseMillis());
    }
    return null;
  }

  private static EngineException shuttingDown() {
    return new EngineException(ErrorCode.SHUTTING_DOWN, "the queues are shut down");
  }

  /// Writes what a call completes, with what it takes.
  private boolean complete(Waiter waiter) {
    TransactionChanges changes = new TransactionChanges(placed);
    try {
      for (LeaseToken each : waiter.request.completed()) {
        changes.complete(each);
      }
      changes.prepareCommit();
    } catch (EngineException e) {
      changes.ended(false);
      waiter.ended = true;
      center.lock.later(() -> waiter.listener.failed(e));
      return false;
    }
    waiter.completing = true;
    deliveries.writer.add(
        changes.written.ops(),
        failure -> {
          waiter.completing = false;
          if (failure != null) {
            changes.ended(false);
            waiter.consumers.failWait(waiter, failure);
          } else if (waiter.request.waitNanos() <= 0) {
            waiter.consumers.endIfWaiting(waiter);
          }
        });
    return true;
  }

  @Override
  public long extend(LeaseToken token, long leaseMillis) {
    center.lock.enter();
    try {
      TaskEntry entry = LeaseEnding.leased(center, token);
      long millis =
          Math.min(
              MAX_LEASE_MILLIS,
              leaseMillis > 0 ? leaseMillis : entry.group.options().leaseMillis());
      center.clock.arm(entry, millis * 1_000_000);
      entry.leaseEndMillis = center.clock.wallMillis() + millis;
      return entry.leaseEndMillis;
    } finally {
      center.lock.exit();
    }
  }

  @Override
  public void endHolder(LeaseHolder holder) {
    center.lock.enter();
    try {
      deliveries.holders.end(holder);
    } finally {
      center.lock.exit();
    }
  }

  @Override
  public @Nullable Long queueOf(LeaseToken token) {
    return center.queues.containsKey(token.queueId()) ? token.queueId() : null;
  }

  /// Has targets of pushes looked at when they are said. Before the start.
  ///
  /// @param check throws an [EngineException] for a URL that is not allowed; on any thread
  public void checkPushTargets(Consumer<String> check) {
    center.checkPushTargets(check);
  }

  /// Hands out tasks at a lower rate than the queue's, because a target asks for it.
  ///
  /// @param rate tasks per second; negative: as the queue says
  public void enforceRate(long queueId, long groupId, double rate) {
    center.lock.enter();
    try {
      GroupCore group = center.group(queueId, groupId);
      if (group != null) {
        GroupConsumers.of(group).enforcedRate = rate;
        group.optionsChanged();
      }
    } finally {
      center.lock.exit();
    }
  }

  // ---- operators ----

  @Override
  public List<QueueState> states() {
    return TaskViews.states(center);
  }

  @Override
  public void tasks(long queueId, TaskVisitor visitor) {
    TaskViews.tasks(center, queueId, visitor);
  }

  @Override
  public void leases(Consumer<TaskView> visitor) {
    List<TaskView> found = new ArrayList<>();
    TaskViews.leases(center, found);
    found.forEach(visitor);
  }

  @Override
  public void check(Consumer<String> problem) {
    new QueueCheck(center, problem).run();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    center.lock.enter();
    try {
      for (QueueCore queue : center.queues.values()) {
        for (GroupCore each : queue.groups) {
          GroupConsumers.of(each).shutDown(shuttingDown());
        }
      }
      center.clock.close();
    } finally {
      center.lock.exit();
    }
    if (center.log.failure() == null) {
      force();
    }
  }
}
