package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.QueueOptions.StartLimits;
import dev.kakehashi.queue.record.TaskRecord;
import dev.kakehashi.queue.system.Deadline;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Tasks of one key of a group, by links of their segments. Guarded by the lock of the queue system.
///
/// One of them at most is offered to the group's order: the head, or one that was given back. A key that may not start a task has none
/// there, so it costs nobody anything.
///
/// Its deadline: when its rate allows the next start, or when it need not be remembered any more.
public final class KeyChain extends Deadline {
  final GroupCore group;
  public final String key;
  public long head = -1;
  public long tail = -1;
  public int headPriority;
  public @Nullable String headFair;

  /// Positions that were given back; some may be over meanwhile. Made when it is needed.
  private @Nullable LongHeap returned;

  /// Positions whose time has not come; made when it is needed.
  @Nullable TreeSet<Long> delayed;

  int leased;

  /// Tasks that transactions are about to end; while it is not decided, none behind them starts.
  int held;

  /// Current offer to the group's order; null: none.
  public @Nullable Offer offered;

  @Nullable RateBucket bucket;

  KeyChain(GroupCore group, String key) {
    this.group = group;
    this.key = key;
  }

  void setHead(TaskRecord record) {
    head = record.position;
    headPriority = record.priority;
    headFair = record.fair();
  }

  /// The chain goes on to the next task that has no entry of its own.
  public void advance() {
    head = group.following(head, tail);
    if (head < 0) {
      tail = -1;
    } else {
      setHead(group.queue.read(head));
    }
  }

  void delay(long position) {
    TreeSet<Long> now = delayed;
    if (now == null) {
      now = new TreeSet<>();
      delayed = now;
    }
    now.add(position);
  }

  void undelay(long position) {
    TreeSet<Long> now = delayed;
    if (now != null) {
      now.remove(position);
      if (now.isEmpty()) {
        delayed = null;
      }
    }
  }

  /// A task was given back.
  void giveBack(long position) {
    LongHeap now = returned;
    if (now == null) {
      now = new LongHeap();
      returned = now;
    }
    now.push(position);
  }

  private long firstReturned() {
    LongHeap now = returned;
    if (now == null) {
      return -1;
    }
    while (!now.isEmpty() && !group.isReady(now.peek())) {
      now.pop();
    }
    if (now.isEmpty()) {
      returned = null;
    }
    return now.peek();
  }

  /// Offers what is next, if it may start.
  public void offer() {
    long back = firstReturned();
    long next = back >= 0 && (head < 0 || back < head) ? back : head;
    if (next < 0 || !mayStart(next)) {
      offered = null;
      forgetIfIdle();
      return;
    }
    Offer now = offered;
    if (now != null && now.position == next && now.stands()) {
      return;
    }
    TaskEntry entry = next == back ? group.known(back) : null;
    Offer offer = new Offer(next, this, entry);
    offered = offer;
    if (entry == null) {
      group.offer(offer, headPriority, headFair);
    } else {
      group.offer(offer, entry.priority, entry.fair);
    }
  }

  /// Whether the limits of the key let this task start; arms the alarm if it is the rate that does not.
  public boolean mayStart(long position) {
    QueueOptions options = group.options();
    if (options.orderByKey()) {
      TreeSet<Long> waiting = delayed;
      if (leased > 0 || held > 0 || (waiting != null && waiting.first() < position)) {
        return false;
      }
    }
    StartLimits limits = options.keyLimits();
    if (limits.maxConcurrent() > 0 && leased >= limits.maxConcurrent()) {
      return false;
    }
    if (limits.rate() >= 0) {
      long wait =
          tokens(limits)
              .untilToken(limits.rate(), limits.bucketSize(), group.center.clock.nanoTime());
      if (wait > 0) {
        if (wait != Long.MAX_VALUE) {
          group.center.clock.arm(this, wait);
        }
        return false;
      }
    }
    return true;
  }

  /// A task of it starts.
  public void start() {
    leased++;
    offered = null;
    StartLimits limits = group.options().keyLimits();
    if (limits.rate() >= 0) {
      tokens(limits).take();
    }
  }

  private RateBucket tokens(StartLimits limits) {
    RateBucket now = bucket;
    if (now == null) {
      now = new RateBucket(0, group.center.clock.startNanos());
      now.untilToken(limits.rate(), limits.bucketSize(), group.center.clock.nanoTime());
      bucket = now;
    }
    return now;
  }

  private void forgetIfIdle() {
    if (head >= 0 || leased > 0 || held > 0 || delayed != null || firstReturned() >= 0) {
      return;
    }
    StartLimits limits = group.options().keyLimits();
    RateBucket now = bucket;
    if (now != null && limits.rate() > 0) {
      long wait = now.untilFull(limits.rate(), limits.bucketSize(), group.center.clock.nanoTime());
      if (wait > 0) {
        group.center.clock.arm(this, wait);
        return;
      }
    }
    group.center.clock.disarm(this);
    group.forget(this);
  }

  @Override
  public void reached() {
    offer();
    group.center.toMatch(group);
  }
}
