package dev.kakehashi.queue.deliver;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.queue.order.FairLane;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.GroupDelivery;
import dev.kakehashi.queue.order.KeyChain;
import dev.kakehashi.queue.order.Offer;
import dev.kakehashi.queue.order.PriorityLevel;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.RateBucket;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import dev.kakehashi.queue.system.Deadline;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Consumers of a group that wait, and what is handed out to them. Guarded by the lock of the queue system.
///
/// No wake-up is lost. A consumer joins the waiting ones and looks at the order within one critical section. Each change that makes a task
/// ready asks for [#match] before it leaves its own critical section. These changes are a record that becomes durable, a lease that ends,
/// and a limit that allows more. So the later of the two critical sections sees the other. A task that a limit holds back has an alarm for
/// the time at which the limit ends. Otherwise it waits for a lease's end, which asks for `match`, too.
///
/// Its deadline: when the rate allows the next start.
public final class GroupConsumers extends Deadline implements GroupDelivery {
  /// A ready task may be beside a waiting consumer for that long.
  static final long LATE_NANOS = 100_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(GroupConsumers.class);
  private static final long UNREAD_NANOS = 3_600_000_000_000L;

  final GroupCore group;
  private final Deliveries deliveries;
  private final QueueCenter center;
  private @Nullable Set<Waiter> waiting;
  private @Nullable RateBucket bucket;
  private boolean started;

  /// By their positions, tasks that have their place in the log and are not applied, with the calls that get them; null: there are none.
  private @Nullable Long2ObjectHashMap<Claim> promised;

  /// Lower than the queue's rate; negative: there is none.
  public double enforcedRate = -1;

  /// Since when the watchdog sees a ready task; 0: it does not.
  private long readySince;

  public long missedWakeups;

  /// When somebody asked for tasks; 0: never in this run.
  private long askedNanos;

  /// When a warning was given that nobody does; 0: never.
  private long warnedNanos;

  /// Warnings so far.
  public int warnings;

  GroupConsumers(GroupCore group, Deliveries deliveries) {
    this.group = group;
    this.deliveries = deliveries;
    this.center = deliveries.center;
  }

  public static GroupConsumers of(GroupCore group) {
    return (GroupConsumers) group.consumers;
  }

  @Override
  public boolean areWaiting() {
    return waiting != null;
  }

  public int waiting() {
    return waiting == null ? 0 : waiting.size();
  }

  // ---- waiting ----

  public void receive(Waiter waiter) {
    askedNanos = center.clock.nanoTime();
    Set<Waiter> now = waiting;
    if (now == null) {
      now = new LinkedHashSet<>();
      waiting = now;
    }
    now.add(waiter);
    match();
    if (!now.contains(waiter)) {
      return;
    }
    deliveries.placed.hurry(group.queue);
    if (waiter.request.waitNanos() <= 0) {
      if (!waiter.completing && !deliveries.endWhenDurable(waiter)) {
        endWait(waiter);
      }
      return;
    }
    center.clock.arm(waiter, waiter.request.waitNanos());
    deliveries.watchdog.watch();
  }

  /// The call ends with nothing, if it has not ended.
  void endWait(Waiter waiter) {
    Set<Waiter> now = waiting;
    center.clock.disarm(waiter);
    if (waiter.ended) {
      return;
    }
    waiter.ended = true;
    deliveries.holders.left(waiter);
    if (now != null) {
      now.remove(waiter);
      if (now.isEmpty()) {
        waiting = null;
      }
    }
    center.lock.later(() -> waiter.listener.received(List.of()));
  }

  /// Ends a call that still waits for tasks.
  public void endIfWaiting(Waiter waiter) {
    if (waiting != null && waiting.contains(waiter)) {
      endWait(waiter);
    }
  }

  public void failWait(Waiter waiter, EngineException reason) {
    if (waiter.ended) {
      return;
    }
    endWaitSilently(waiter);
    center.lock.later(() -> waiter.listener.failed(reason));
  }

  private void endWaitSilently(Waiter waiter) {
    waiter.ended = true;
    center.clock.disarm(waiter);
    deliveries.holders.left(waiter);
    Set<Waiter> now = waiting;
    if (now != null) {
      now.remove(waiter);
      if (now.isEmpty()) {
        waiting = null;
      }
    }
  }

  @Override
  public void end() {
    center.clock.disarm(this);
    Set<Waiter> now = waiting;
    if (now != null) {
      for (Waiter each : List.copyOf(now)) {
        endWait(each);
      }
    }
  }

  public void shutDown(EngineException reason) {
    center.clock.disarm(this);
    Set<Waiter> now = waiting;
    if (now != null) {
      for (Waiter each : List.copyOf(now)) {
        failWait(each, reason);
      }
    }
  }

  // ---- promises ----

  @Override
  public boolean promise(QueueOp.Enqueue enqueue) {
    Set<Waiter> now = waiting;
    QueueOptions options = group.options();
    if (now == null
        || group.ready() > 0
        || rate(options) >= 0
        || options.limits().maxConcurrent() > 0
        || !allows(options, 0)) {
      return false;
    }
    TaskRecord record = new TaskRecord(ByteBuffer.wrap(enqueue.record), 0);
    if (record.runAtMillis != 0 || record.hasKey()) {
      return false;
    }
    Waiter waiter = now.iterator().next();
    leave(waiter);
    Claim claim = new Claim(waiter, new ArrayList<>(1), new ArrayList<>(1));
    long position = enqueue.position;
    if (promised == null) {
      promised = new Long2ObjectHashMap<>();
    }
    promised.put(position, claim);
    deliveries.writer.add(
        List.of(new QueueOp.Claimed(group.queue.queueId, group.groupId, position, 1)),
        failure -> {
          // One that is not applied is a task as all others again.
          forgetPromise(position);
          deliveries.claimed(claim, failure);
        });
    return true;
  }

  private @Nullable Claim forgetPromise(long position) {
    Long2ObjectHashMap<Claim> now = promised;
    Claim claim = now == null ? null : now.remove(position);
    if (now != null && now.isEmpty()) {
      promised = null;
    }
    return claim;
  }

  @Override
  public boolean keepPromise(TaskRecord record, long position) {
    Claim claim = forgetPromise(position);
    if (claim == null) {
      return false;
    }
    TaskEntry entry = entry(position, record);
    entry.fair = record.fair();
    entry.phase = Phase.LEASED;
    lend(claim, entry, record, center.clock.nanoTime(), center.clock.wallMillis());
    if (!claim.waiter.ended) {
      deliveries.holders.leaseBegan(entry);
    }
    return true;
  }

  // ---- handing out ----

  @Override
  public void match() {
    for (Set<Waiter> now = waiting; now != null && !now.isEmpty(); ) {
      Waiter waiter = now.iterator().next();
      long share = Math.max(1, group.ready() / now.size());
      Claim claim = take(waiter, (int) Math.min(waiter.request.max(), share));
      if (claim == null) {
        return;
      }
      leave(waiter);
      deliveries.claim(claim);
    }
  }

  /// A consumer waits no longer, because it gets something.
  private void leave(Waiter waiter) {
    Set<Waiter> now = waiting;
    if (now != null) {
      now.remove(waiter);
      if (now.isEmpty()) {
        waiting = null;
      }
    }
    center.clock.disarm(waiter);
  }

  private @Nullable Claim take(Waiter waiter, int max) {
    QueueOptions options = group.options();
    ReceiveRequest request = waiter.request;
    long nanos = center.clock.nanoTime();
    long wall = center.clock.wallMillis();
    long bytes = 0;
    Claim claim = null;
    for (int count = 0; count < max && allows(options, nanos); ) {
      FairLane lane = best(options, wall);
      if (lane == null) {
        break;
      }
      long position = lane.peek();
      TaskRecord record = group.queue.read(position);
      if (claim != null && bytes + record.payloadBytes > request.maxBytes()) {
        break;
      }
      bytes += record.payloadBytes;
      TaskEntry entry = take(lane, position, record);
      if (entry == null) {
        bytes -= record.payloadBytes;
        continue;
      }
      if (bucket != null && rate(options) >= 0) {
        bucket.take();
      }
      lane.level.served(lane, group.queue.weight(lane.fair));
      if (claim == null) {
        claim = new Claim(waiter, new ArrayList<>(), new ArrayList<>());
      }
      lend(claim, entry, record, nanos, wall);
      count++;
    }
    return claim;
  }

  /// An attempt begins with the claim.
  private void lend(Claim claim, TaskEntry entry, TaskRecord record, long nanos, long wall) {
    ReceiveRequest request = claim.waiter.request;
    long leaseMillis =
        request.leaseMillis() > 0 ? request.leaseMillis() : group.options().leaseMillis();
    started = true;
    entry.claimPending = true;
    entry.attempts++;
    entry.nonce = center.numbers.nonce();
    entry.holder = request.holder();
    entry.leaseNanos = Math.multiplyExact(leaseMillis, 1_000_000L);
    entry.leasedNanos = nanos;
    entry.leaseEndMillis = wall + leaseMillis;
    group.leased++;
    String error = entry.lastError == null ? record.error() : entry.lastError;
    claim.entries.add(entry);
    claim.tasks.add(
        new LeasedTask(
            entry.token(),
            record.taskId,
            record.payload(),
            record.key(),
            entry.fair,
            record.priority,
            record.enqueuedMillis,
            entry.leaseEndMillis,
            error));
  }

  /// Takes the lane's next task out of the order; null: its key may not start it.
  private @Nullable TaskEntry take(FairLane lane, long position, TaskRecord record) {
    Offer offer = lane.pop();
    KeyChain chain = offer == null ? null : offer.chain;
    TaskEntry entry = offer == null ? null : offer.entry;
    if (chain != null && !chain.mayStart(position)) {
      chain.offered = null;
      return null;
    }
    if (entry == null) {
      entry = entry(position, record);
      entry.fair = lane.fair;
      entry.chain = chain;
      if (chain != null) {
        chain.advance();
      }
    }
    entry.phase = Phase.LEASED;
    group.delays.left(entry);
    if (chain != null) {
      chain.start();
      chain.offer();
    }
    return entry;
  }

  /// An entry of its own for a task that had none.
  private TaskEntry entry(long position, TaskRecord record) {
    TaskEntry entry = new TaskEntry(group, position);
    entry.known = true;
    entry.priority = record.priority;
    entry.enqueuedMillis = record.enqueuedMillis;
    entry.unique = record.holdsUniqueKey();
    group.entries.put(position, entry);
    return entry;
  }

  /// Whether the limits of the queue let another task start; arms the alarm if it is the rate that does not.
  private boolean allows(QueueOptions options, long nanos) {
    if (!center.isStarted() || center.log.failure() != null || group.queue.isPaused()) {
      return false;
    }
    if (options.limits().maxConcurrent() > 0 && group.leased >= options.limits().maxConcurrent()) {
      return false;
    }
    double rate = rate(options);
    if (rate < 0) {
      return true;
    }
    RateBucket tokens = bucket;
    if (tokens == null) {
      // A queue of this incarnation that has started nothing yet has a full one; after a restart it
      // has been filling since.
      tokens =
          group.queue.createdInThisRun && !started
              ? new RateBucket(options.limits().bucketSize(), nanos)
              : new RateBucket(0, started ? nanos : center.clock.startNanos());
      bucket = tokens;
    }
    long wait = tokens.untilToken(rate, options.limits().bucketSize(), nanos);
    if (wait > 0 && wait != Long.MAX_VALUE) {
      if (group.ready() > 0) {
        center.clock.arm(this, wait);
      }
      return false;
    }
    return wait == 0;
  }

  private double rate(QueueOptions options) {
    double own = options.limits().rate();
    return enforcedRate >= 0 && (own < 0 || enforcedRate < own) ? enforcedRate : own;
  }

  /// Rate that is kept; negative: without limit.
  public double keptRate() {
    return rate(group.options());
  }

  private @Nullable FairLane best(QueueOptions options, long wall) {
    FairLane best = null;
    long bestPriority = 0;
    long bestPosition = 0;
    for (int priority = group.levels.length - 1; priority >= 0; priority--) {
      PriorityLevel level = group.levels[priority];
      FairLane lane = level == null ? null : level.first();
      if (lane == null) {
        continue;
      }
      if (options.agingMillis() <= 0) {
        return lane;
      }
      if (best == null) {
        best = lane;
        bestPriority = -1;
        continue;
      }
      if (bestPriority < 0) {
        bestPosition = best.peek();
        bestPriority = aged(best, bestPosition, options, wall);
      }
      long position = lane.peek();
      long aged = aged(lane, position, options, wall);
      if (aged > bestPriority || (aged == bestPriority && position < bestPosition)) {
        best = lane;
        bestPriority = aged;
        bestPosition = position;
      }
    }
    return best;
  }

  private long aged(FairLane lane, long position, QueueOptions options, long wall) {
    TaskRecord record = group.queue.read(position);
    long since = Math.max(record.enqueuedMillis, record.runAtMillis);
    long steps = Math.max(0, wall - since) / options.agingMillis();
    return Math.min(group.levels.length - 1, lane.level.priority + steps);
  }

  @Override
  public void reached() {
    match();
  }

  /// Files fill up with tasks that are this group's, too: warns once an hour if nobody asks for them.
  @Override
  public void warnIfUnread() {
    long now = center.clock.nanoTime();
    long since = askedNanos == 0 ? center.clock.startNanos() : askedNanos;
    if (!center.isStarted()
        || now - since < UNREAD_NANOS
        || (warnedNanos != 0 && now - warnedNanos < UNREAD_NANOS)) {
      return;
    }
    warnedNanos = now;
    warnings++;
    long open = group.enqueued - group.done - group.canceled;
    QueueDefinition queue = group.queue.definition();
    String name = queue == null ? Long.toString(group.queue.queueId) : queue.name();
    long hours = (now - since) / UNREAD_NANOS;
    center.lock.later(() ->
        LOG.warn(
            "Nobody has asked for tasks of queue {}, group {}, for {} h: {} tasks keep their files",
            name,
            group.groupId,
            hours,
            open));
  }

  // ---- the watchdog ----

  /// Looks for a ready task beside a waiting consumer that no limit explains.
  ///
  /// @return whether anybody waits
  boolean look(long nanos) {
    if (waiting == null) {
      readySince = 0;
      return false;
    }
    QueueOptions options = group.options();
    if (!allows(options, nanos) || best(options, center.clock.wallMillis()) == null) {
      readySince = 0;
    } else if (readySince == 0) {
      readySince = nanos == 0 ? 1 : nanos;
      deliveries.watchdog.watchSoon();
    } else if (nanos - readySince > LATE_NANOS) {
      missedWakeups++;
      readySince = 0;
      match();
    }
    return true;
  }

  /// Tasks that are lent to one call, until their record is durable.
  record Claim(Waiter waiter, List<TaskEntry> entries, List<LeasedTask> tasks) {}
}
