package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.GroupTasks;
import dev.kakehashi.queue.record.TaskRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/// One group of a queue: which of its tasks are open, and in which order they are handed out. Guarded by the lock of the queue system.
///
/// A task is in the chain of its lane or key, whose links are in the segments, so a backlog takes no memory here; or it has an entry. A
/// task that has neither is over.
public final class GroupCore {
  public final QueueCenter center;
  public final QueueCore queue;
  public final long groupId;

  /// Slot of its counts in segments.
  public final int slot;

  /// Whether it gets new tasks.
  public boolean accepting = true;

  public final Long2ObjectHashMap<TaskEntry> entries = new Long2ObjectHashMap<>();
  public final Map<String, KeyChain> keys = new HashMap<>(4);
  public final @Nullable PriorityLevel[] levels = new PriorityLevel[NewTask.MAX_PRIORITY + 1];
  public final DelayedTasks delays = new DelayedTasks(this);
  public final GroupDelivery consumers;

  /// Its tasks for the changes of the log.
  final GroupTasks logged = new LoggedTasks(this);

  public long enqueued;
  public long done;

  /// Tasks that have gone without being done, for whatever reason.
  public long canceled;

  /// Canceled tasks that are dead, and went to the queue for dead letters.
  public long deadLetters;

  public long leased;
  public long delayed;
  public long dead;

  public GroupCore(QueueCore queue, long groupId, int slot) {
    this.queue = queue;
    this.center = queue.center;
    this.groupId = groupId;
    this.slot = slot;
    consumers = center.delivery.newGroup(this);
  }

  public QueueOptions options() {
    return queue.options();
  }

  public long ready() {
    return enqueued - done - canceled - dead - delayed - leased;
  }

  // ---- new tasks ----

  void added(TaskRecord record, long position) {
    enqueued++;
    if (consumers.keepPromise(record, position)) {
      return;
    }
    String key = record.key();
    if (record.runAtMillis != 0) {
      TaskEntry entry = new TaskEntry(this, position);
      entry.runAtMillis = record.runAtMillis;
      know(entry, record, key);
      entries.put(position, entry);
      delayByWall(entry);
    } else if (key == null) {
      FairLane lane = level(record.priority).lane(record.fair());
      if (lane.head < 0) {
        lane.head = position;
      } else {
        queue.setLink(lane.tail, position);
      }
      lane.tail = position;
      lane.level.activate(lane);
    } else {
      KeyChain chain = chain(key);
      if (chain.head < 0) {
        chain.head = position;
        chain.headPriority = record.priority;
        chain.headFair = record.fair();
        chain.tail = position;
        offerKey(chain);
      } else {
        queue.setLink(chain.tail, position);
        chain.tail = position;
      }
    }
    center.toMatch(this);
  }

  public PriorityLevel level(int priority) {
    PriorityLevel level = levels[priority];
    if (level == null) {
      level = new PriorityLevel(this, priority);
      levels[priority] = level;
    }
    return level;
  }

  public KeyChain chain(String key) {
    KeyChain chain = keys.get(key);
    if (chain == null) {
      chain = new KeyChain(this, key);
      keys.put(key, chain);
    }
    return chain;
  }

  void forget(KeyChain chain) {
    keys.remove(chain.key, chain);
  }

  void offer(Offer offer, int priority, @Nullable String fair) {
    FairLane lane = level(priority).lane(fair);
    lane.offer(offer);
    lane.level.activate(lane);
  }

  /// Offers what is next of a key; before the start nothing is handed out, and so nothing offered.
  void offerKey(@Nullable KeyChain chain) {
    if (chain != null && center.isStarted()) {
      chain.offer();
    }
  }

  // ---- chains ----

  /// The position after one in its chain that has no entry of its own; -1: none. Entries between leave the chain.
  long following(long position, long tail) {
    long next = position == tail ? -1 : queue.link(position);
    while (next >= 0) {
      TaskEntry entry = entries.get(next);
      if (entry == null) {
        return next;
      }
      long after = next == tail ? -1 : queue.link(next);
      entry.inChain = false;
      if (entry.phase == Phase.GONE) {
        drop(entry);
      }
      next = after;
    }
    return -1;
  }

  /// Whether a task is in its chain, and not passed, or waits for its time without an entry.
  public boolean isInChain(TaskRecord record) {
    String key = record.key();
    if (record.runAtMillis != 0) {
      return key == null && delays.isWaiting(record.position);
    }
    if (key != null) {
      KeyChain chain = keys.get(key);
      return chain != null
          && chain.head >= 0
          && chain.head <= record.position
          && record.position <= chain.tail;
    }
    PriorityLevel level = levels[record.priority];
    FairLane lane = level == null ? null : level.existing(record.fair());
    return lane != null
        && lane.head >= 0
        && lane.head <= record.position
        && record.position <= lane.tail;
  }

  /// Whether it is neither done nor canceled, nor dead.
  boolean isOpen(TaskRecord record) {
    TaskEntry entry = entries.get(record.position);
    return entry == null
        ? isInChain(record)
        : entry.phase != Phase.GONE
            && (entry.phase == Phase.HELD ? entry.before : entry.phase) != Phase.DEAD;
  }

  boolean isReady(long position) {
    TaskEntry entry = entries.get(position);
    return entry != null && entry.phase == Phase.READY;
  }

  // ---- entries ----

  /// The entry of an open task, made if need be; null: the task is over.
  public @Nullable TaskEntry entry(long position) {
    TaskEntry entry = entries.get(position);
    if (entry != null) {
      return entry.phase == Phase.GONE ? null : entry;
    }
    TaskRecord record = queue.readIfThere(position);
    if (record == null || !isInChain(record)) {
      return null;
    }
    entry = new TaskEntry(this, position);
    know(entry, record, record.key());
    entries.put(position, entry);
    if (record.runAtMillis != 0) {
      delays.take(entry, record);
      return entry;
    }
    entry.inChain = true;
    KeyChain chain = entry.chain;
    if (chain == null) {
      FairLane lane = level(record.priority).lane(record.fair());
      if (lane.head == position) {
        entry.inChain = false;
        lane.advance();
      }
    } else if (chain.head == position) {
      entry.inChain = false;
      chain.advance();
      chain.offered = null;
      offerKey(chain);
    }
    return entry;
  }

  /// An entry that is there, with what its record says.
  TaskEntry known(long position) {
    TaskEntry entry = Objects.requireNonNull(entries.get(position));
    know(entry);
    return entry;
  }

  public void know(TaskEntry entry) {
    if (!entry.known) {
      TaskRecord record = queue.read(entry.position);
      know(entry, record, record.key());
    }
  }

  public void know(TaskEntry entry, TaskRecord record, @Nullable String key) {
    entry.known = true;
    entry.priority = record.priority;
    entry.fair = record.fair();
    entry.enqueuedMillis = record.enqueuedMillis;
    entry.unique = record.holdsUniqueKey();
    entry.chain = key == null ? null : chain(key);
  }

  // ---- what happens to entries ----

  /// Its time has come: the lease ends, or the wait.
  void reached(TaskEntry entry) {
    switch (entry.phase) {
      case LEASED -> {
        if (entry.heldBy == null) {
          LeaseHolder holder = entry.holder;
          if (holder != null) {
            var token = entry.token();
            center.lock.later(() -> holder.lost(token));
          }
          giveBack(entry);
        }
      }
      case DELAYED -> {
        leave(entry);
        ready(entry);
      }
      case HELD -> center.delivery.bury(entry);
      default -> {}
    }
    center.toMatch(this);
  }

  /// A lease has ended without a word of its holder: the attempt counts, and the next one may begin at once.
  public void giveBack(TaskEntry entry) {
    leave(entry);
    entry.lastError = TaskEntry.LEASE_ENDED;
    ready(entry);
    center.toMatch(this);
  }

  /// It may be handed out, or is dead.
  public void ready(TaskEntry entry) {
    entry.phase = Phase.READY;
    if (!center.isStarted()) {
      return;
    }
    know(entry);
    if (entry.attempts == 0 && entry.inChain) {
      entries.remove(entry.position);
      return;
    }
    if (entry.attempts > 0
        && Backoff.exhausted(
            options(), entry.attempts, entry.enqueuedMillis, center.clock.wallMillis())) {
      held(entry, Phase.READY);
      center.delivery.bury(entry);
      return;
    }
    KeyChain chain = entry.chain;
    if (chain == null) {
      offer(new Offer(entry.position, null, entry), entry.priority, entry.fair);
    } else {
      chain = chain(chain.key);
      entry.chain = chain;
      chain.giveBack(entry.position);
      chain.offer();
    }
  }

  void delayed(TaskEntry entry) {
    entry.phase = Phase.DELAYED;
    entry.byWall = false;
    delayed++;
    KeyChain chain = entry.chain;
    if (chain != null) {
      chain.delay(entry.position);
    }
  }

  /// Until its time by the wall clock.
  public void delayByWall(TaskEntry entry) {
    delayed(entry);
    entry.byWall = true;
    center.clock.armWall(entry, entry.runAtMillis);
  }

  /// Ends its present phase; the caller gives it another one.
  public void leave(TaskEntry entry) {
    KeyChain chain = entry.chain;
    switch (entry.phase) {
      case LEASED -> {
        leased--;
        center.clock.disarm(entry);
        center.delivery.leaseEnded(entry);
        entry.claimPending = false;
        if (chain != null) {
          chain.leased--;
        }
      }
      case DELAYED -> {
        delayed--;
        if (entry.byWall) {
          center.clock.disarmWall(entry);
        } else {
          center.clock.disarm(entry);
        }
        if (chain != null) {
          chain.undelay(entry.position);
        }
      }
      case DEAD -> dead--;
      case HELD -> {
        center.clock.disarm(entry);
        if (chain != null && entry.before != Phase.DEAD) {
          chain.held--;
        }
      }
      default -> {}
    }
  }

  void finish(TaskEntry entry) {
    know(entry);
    leave(entry);
    delays.left(entry);
    entry.heldBy = null;
    entry.ends = List.of();
    entry.phase = Phase.GONE;
    if (entry.unique) {
      queue.uniqueKeys.ended(entry.position);
    }
    if (!entry.inChain) {
      drop(entry);
    }
    offerKey(entry.chain);
    center.toMatch(this);
  }

  private void drop(TaskEntry entry) {
    entries.remove(entry.position);
    queue.closed(entry.position, slot);
  }

  /// A transaction is about to end it. A task that is lent stays so.
  public void hold(TaskEntry entry, Object owner) {
    entry.heldBy = owner;
    if (entry.phase != Phase.LEASED) {
      know(entry);
      Phase before = entry.phase;
      leave(entry);
      delays.left(entry);
      held(entry, before);
    }
  }

  private static void held(TaskEntry entry, Phase before) {
    entry.before = before;
    entry.phase = Phase.HELD;
    KeyChain chain = entry.chain;
    if (chain != null) {
      if (before != Phase.DEAD) {
        chain.held++;
      }
      // The lane drops an offer that does not stand; if the task comes back, it needs another one.
      if (chain.offered != null && entry.equals(chain.offered.entry)) {
        chain.offered = null;
      }
    }
  }

  /// The transaction was rolled back.
  public void unhold(TaskEntry entry) {
    entry.heldBy = null;
    if (entry.phase == Phase.LEASED) {
      LeaseHolder holder = entry.holder;
      if (holder == null || center.clock.isOver(entry)) {
        reached(entry);
      }
      return;
    }
    if (entry.phase != Phase.HELD) {
      return;
    }
    leave(entry);
    if (entry.before == Phase.DEAD) {
      entry.phase = Phase.DEAD;
      dead++;
    } else if (entry.before == Phase.DELAYED && entry.runAtMillis > center.clock.wallMillis()) {
      delayByWall(entry);
    } else {
      ready(entry);
    }
    offerKey(entry.chain);
    center.toMatch(this);
  }

  // ---- the whole group ----

  /// Recovery has ended.
  public void start() {
    for (TaskEntry entry : List.copyOf(entries.values())) {
      if (entry.phase == Phase.READY) {
        if (entry.lent) {
          entry.lent = false;
          entry.lastError = TaskEntry.LEASE_ENDED;
        }
        ready(entry);
      }
    }
    delays.start();
    for (KeyChain chain : List.copyOf(keys.values())) {
      chain.offer();
    }
    center.toMatch(this);
  }

  /// Options have changed.
  public void optionsChanged() {
    for (KeyChain chain : List.copyOf(keys.values())) {
      chain.offer();
    }
    center.toMatch(this);
  }
}
