package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.DefinedName;
import dev.kakehashi.engine.store.api.BoxedIds;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// Locks of tables and other objects by their number, and of names, kept by transactions to their end: statements share them, DDL has them
/// alone. A prepared transaction keeps its locks until it is decided, which others wait for as for any other end: that may be the moment
/// between the two phases of a commit, or long.
///
/// No request blocks: a request that is not granted gets a [Wait], whose `wake` is called when the lock is granted. A lock is granted in
/// the order of the requests, with two exceptions. A holder comes first when it asks for more, and a request that conflicts neither with
/// holders nor with waiters need not wait.
///
/// Thread-safe. A lock's `grants` and `queue`, the mode of its grants and the state of its waits are guarded by the lock. The list of an
/// owner's grants belongs to the operation that has the turn of its transaction. Order of locks: a table's, then [Deadlocks]; nothing is
/// called under them.
public final class TableLocks {
  /// Stands for the catalogue: changes of objects in it share this lock, changes on which any object may depend have it alone. Numbers of
  /// objects begin with 1.
  public static final long CATALOGUE = 0;

  private static final long NO_NUMBER = Long.MIN_VALUE;

  /// How a lock is held; each mode includes those before it.
  public enum Mode {
    /// Uses rows: several at a time.
    SHARED,
    /// Makes an index, or changes what the catalogue says of it, while others use rows.
    BUILD,
    /// Changes or drops the table.
    EXCLUSIVE;

    boolean includes(Mode other) {
      return compareTo(other) >= 0;
    }

    /// The stronger one of two.
    public static Mode stronger(Mode one, Mode other) {
      return one.includes(other) ? one : other;
    }

    boolean conflicts(Mode other) {
      return this == EXCLUSIVE || other == EXCLUSIVE || (this == BUILD && other == BUILD);
    }
  }

  /// A transaction as holder of locks.
  public static final class Owner {
    private final long transactionId;

    /// Its grants on objects that have a number, the latest first: a chain through the grants, because most transactions have few.
    private @Nullable Grant held;

    /// Its grants on names; empty unless it defines something.
    private Map<DefinedName, Grant> names = Map.of();

    public Owner(long transactionId) {
      this.transactionId = transactionId;
    }

    private @Nullable Grant find(Lock lock) {
      DefinedName name = lock.name;
      return name == null ? find(lock.tableId) : names.get(name);
    }

    private @Nullable Grant find(long tableId) {
      for (Grant grant = held; grant != null; grant = grant.next) {
        if (grant.lock.tableId == tableId) {
          return grant;
        }
      }
      return null;
    }

    private void add(Grant grant) {
      DefinedName name = grant.lock.name;
      if (name == null) {
        grant.next = held;
        held = grant;
        return;
      }
      if (names.isEmpty()) {
        names = new HashMap<>();
      }
      names.put(name, grant);
    }
  }

  private static final class Grant {
    final Lock lock;
    final Owner owner;
    Mode mode;

    /// Next grant of the owner.
    @Nullable Grant next;

    Grant(Lock lock, Owner owner, Mode mode) {
      this.lock = lock;
      this.owner = owner;
      this.mode = mode;
    }
  }

  /// A request that was not granted at once.
  public static final class Wait {
    private final Lock lock;
    private final Owner owner;
    private final Mode mode;
    private @Nullable Grant granted;
    private volatile Runnable wake = () -> {};

    private Wait(Lock lock, Owner owner, Mode mode) {
      this.lock = lock;
      this.owner = owner;
      this.mode = mode;
    }

    /// Calls `action` when there is something new; to be set before the first look at [TableLocks#isGranted].
    void onNews(Runnable action) {
      wake = action;
    }
  }

  private static final class Lock {
    final long tableId;

    /// Name that is locked; null: the lock is of a number.
    final @Nullable DefinedName name;

    final ArrayList<Grant> grants = new ArrayList<>(2);
    final ArrayList<Wait> queue = new ArrayList<>(0);

    /// No thread finds it from now on: a thread that has found it before looks again.
    boolean gone;

    Lock(long tableId) {
      this.tableId = tableId;
      this.name = null;
    }

    Lock(DefinedName name) {
      this.tableId = NO_NUMBER;
      this.name = name;
    }

    boolean isFree(Owner owner, Mode mode) {
      for (int i = 0; i < grants.size(); i++) {
        Grant grant = grants.get(i);
        if (grant.owner != owner && grant.mode.conflicts(mode)) {
          return false;
        }
      }
      return true;
    }

    Grant grant(Owner owner, Mode mode, @Nullable Grant present) {
      if (present != null) {
        present.mode = mode;
        return present;
      }
      Grant grant = new Grant(this, owner, mode);
      grants.add(grant);
      return grant;
    }

    /// Grants what can be granted now.
    List<Wait> dispatch() {
      if (queue.isEmpty()) {
        return List.of();
      }
      List<Wait> served = new ArrayList<>();
      List<Wait> left = new ArrayList<>();
      for (Wait wait : queue) {
        if (isFree(wait.owner, wait.mode)
            && left.stream().noneMatch(other -> other.mode.conflicts(wait.mode))) {
          wait.granted = grant(wait.owner, wait.mode, ofOwner(wait.owner));
          served.add(wait);
        } else {
          left.add(wait);
        }
      }
      queue.clear();
      queue.addAll(left);
      return served;
    }

    private @Nullable Grant ofOwner(Owner owner) {
      for (Grant grant : grants) {
        if (grant.owner == owner) {
          return grant;
        }
      }
      return null;
    }
  }

  private final ConcurrentHashMap<Long, Lock> locks = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<DefinedName, Lock> nameLocks = new ConcurrentHashMap<>();
  private final Deadlocks deadlocks;
  private final LongPredicate exists;

  /// @param exists whether a number is that of something that can be locked; locks of what is gone are forgotten
  public TableLocks(Deadlocks deadlocks, LongPredicate exists) {
    this.deadlocks = deadlocks;
    this.exists = exists;
  }

  /// Takes a lock, or gets into its queue.
  ///
  /// @return null if the owner has the lock
  /// @throws EngineException DEADLOCK_DETECTED
  @Nullable Wait acquire(Owner owner, long tableId, Mode mode) {
    Grant present = owner.find(tableId);
    return includes(present, mode)
        ? null
        : acquire(locks, BoxedIds.of(tableId), Lock::new, owner, mode, present);
  }

  /// The same for a name.
  @Nullable Wait acquire(Owner owner, DefinedName name, Mode mode) {
    Grant present = owner.names.get(name);
    return includes(present, mode)
        ? null
        : acquire(nameLocks, name, Lock::new, owner, mode, present);
  }

  /// @param make makes the lock of a key that has none
  /// @param present what the owner has of it
  private <K> @Nullable Wait acquire(
      ConcurrentHashMap<K, Lock> all,
      K key,
      Function<K, Lock> make,
      Owner owner,
      Mode mode,
      @Nullable Grant present) {
    while (true) {
      Lock lock = all.computeIfAbsent(key, make);
      synchronized (lock) {
        if (!lock.gone) {
          return acquire(lock, owner, mode, present);
        }
      }
    }
  }

  /// Whether the owner has a lock in this mode or a stronger one. Called by the owner.
  static boolean holds(Owner owner, long tableId, Mode mode) {
    return includes(owner.find(tableId), mode);
  }

  /// The same for a name.
  static boolean holds(Owner owner, DefinedName name, Mode mode) {
    return includes(owner.names.get(name), mode);
  }

  private static boolean includes(@Nullable Grant present, Mode mode) {
    return present != null && present.mode.includes(mode);
  }

  /// Under the lock.
  private @Nullable Wait acquire(Lock lock, Owner owner, Mode mode, @Nullable Grant present) {
    boolean queued = present == null && !lock.queue.isEmpty();
    if (lock.isFree(owner, mode)
        && !(queued && lock.queue.stream().anyMatch(wait -> wait.mode.conflicts(mode)))) {
      hold(lock, owner, mode, present);
      return null;
    }
    Wait wait = new Wait(lock, owner, mode);
    Set<Long> blockers = new LinkedHashSet<>();
    for (Grant grant : lock.grants) {
      if (grant.owner != owner && grant.mode.conflicts(mode)) {
        blockers.add(grant.owner.transactionId);
      }
    }
    for (int i = 0; queued && i < lock.queue.size(); i++) {
      if (lock.queue.get(i).mode.conflicts(mode)) {
        blockers.add(lock.queue.get(i).owner.transactionId);
      }
    }
    if (!deadlocks.add(owner.transactionId, blockers)) {
      throw new EngineException(ErrorCode.DEADLOCK_DETECTED, "deadlock detected")
          .withDetail(
              "Transaction %d waits for a lock of transactions %s, which wait for it."
                  .formatted(owner.transactionId, blockers));
    }
    lock.queue.add(present == null ? lock.queue.size() : 0, wait);
    return wait;
  }

  /// Whether the lock is the owner's now. Called by the owner of the wait, until it is.
  boolean isGranted(Wait wait) {
    synchronized (wait.lock) {
      Grant granted = wait.granted;
      if (granted == null) {
        return false;
      }
      take(wait, granted);
    }
    deadlocks.remove(wait.owner.transactionId);
    return true;
  }

  private static void take(Wait wait, Grant granted) {
    if (wait.owner.find(granted.lock) == null) {
      wait.owner.add(granted);
    }
  }

  /// Gives a request up; a lock that was granted meanwhile stays.
  void withdraw(Wait wait) {
    List<Wait> served;
    synchronized (wait.lock) {
      Grant granted = wait.granted;
      if (granted != null) {
        take(wait, granted);
      }
      wait.lock.queue.remove(wait);
      served = wait.lock.dispatch();
    }
    deadlocks.remove(wait.owner.transactionId);
    served.forEach(other -> other.wake.run());
  }

  /// Gives a transaction that an earlier run has prepared a lock that it had; nobody else has asked for locks yet.
  public void give(Owner owner, long tableId, Mode mode) {
    give(locks.computeIfAbsent(tableId, Lock::new), owner, mode);
  }

  /// The same for a name.
  public void give(Owner owner, DefinedName name, Mode mode) {
    give(nameLocks.computeIfAbsent(name, Lock::new), owner, mode);
  }

  private static void give(Lock lock, Owner owner, Mode mode) {
    synchronized (lock) {
      Grant present = owner.find(lock);
      if (!includes(present, mode)) {
        hold(lock, owner, mode, present);
      }
    }
  }

  private static void hold(Lock lock, Owner owner, Mode mode, @Nullable Grant present) {
    Grant grant = lock.grant(owner, mode, present);
    if (present == null) {
      owner.add(grant);
    }
  }

  /// The owner's transaction has ended.
  public void releaseAll(Owner owner) {
    for (Grant grant = owner.held; grant != null; grant = grant.next) {
      release(grant);
    }
    owner.held = null;
    if (!owner.names.isEmpty()) {
      owner.names.values().forEach(this::release);
      owner.names = Map.of();
    }
  }

  private void release(Grant grant) {
    Lock lock = grant.lock;
    List<Wait> served;
    synchronized (lock) {
      lock.grants.remove(grant);
      served = lock.dispatch();
      if (lock.grants.isEmpty() && lock.queue.isEmpty() && !isLasting(lock)) {
        lock.gone = true;
        DefinedName name = lock.name;
        if (name == null) {
          locks.remove(lock.tableId, lock);
        } else {
          nameLocks.remove(name, lock);
        }
      }
    }
    for (int w = 0; w < served.size(); w++) {
      served.get(w).wake.run();
    }
  }

  private boolean isLasting(Lock lock) {
    return lock.name == null && (lock.tableId == CATALOGUE || exists.test(lock.tableId));
  }

  /// A lock that a transaction has, or waits for.
  ///
  /// @param name of a lock of a name, whose number means nothing; null: of a number
  public record Held(
      long transactionId, long tableId, @Nullable DefinedName name, Mode mode, boolean granted) {}

  /// All locks, each as of some moment.
  public List<Held> list() {
    List<Held> list = new ArrayList<>();
    locks.values().forEach(lock -> addTo(list, lock));
    nameLocks.values().forEach(lock -> addTo(list, lock));
    return list;
  }

  private static void addTo(List<Held> list, Lock lock) {
    synchronized (lock) {
      lock.grants.forEach(grant ->
          list.add(new Held(grant.owner.transactionId, lock.tableId, lock.name, grant.mode, true)));
      lock.queue.forEach(wait ->
          list.add(new Held(wait.owner.transactionId, lock.tableId, lock.name, wait.mode, false)));
    }
  }
}
