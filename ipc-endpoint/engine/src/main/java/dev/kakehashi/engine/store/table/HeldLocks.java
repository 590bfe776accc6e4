package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.memory.HeapRoom;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.SharedLocks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The shared row locks of one transaction, in the order in which it has taken them. Used by the thread that has the transaction.
///
/// Where a mark of the transaction is asked for and locks have come since the last one, that is a step, which counts like one change of the
/// catalogue: so a rollback to a savepoint lets go of what was locked since.
public final class HeldLocks {
  private static final int FIRST = 4;
  private static final int[] NONE = {};

  /// Bytes of a lock: its page, and its row with the lock that the transaction had before.
  private static final long LOCK_BYTES = 8;

  private static final int BEFORE_BITS = 2;
  private static final int BEFORE_MASK = (1 << BEFORE_BITS) - 1;

  private Page[] pages = new Page[FIRST];

  /// Slot, and how the row was held before: 0 not at all, otherwise 1 more than the number of the strength.
  private int[] rows = new int[FIRST];

  private int count;
  private long granted = HeapRoom.LONG_BYTES;

  /// For each step: the number of locks then, and the number of steps and other changes with it.
  private int[] marks = NONE;

  private int[] numbers = NONE;
  private int steps;

  /// Tables of which it holds the keys of all rows. Most hold none so.
  private List<RowLocker> whole = List.of();

  /// Makes room for one more lock, so that adding it cannot fail.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY
  void reserve() {
    if (count < rows.length) {
      return;
    }
    int capacity = Math.addExact(count, count);
    while (LOCK_BYTES * capacity > granted) {
      HeapRoom.require("list of row locks", HeapRoom.LONG_BYTES);
      granted += HeapRoom.LONG_BYTES;
    }
    pages = Arrays.copyOf(pages, capacity);
    rows = Arrays.copyOf(rows, capacity);
  }

  /// Locks a row of a latched page; room was made for it.
  void lock(StoreTransaction owner, Page page, int slot, LockStrength strength) {
    SharedLocks locks = page.sharedLocks();
    LockStrength before = locks == null ? null : locks.strength(owner, slot);
    if (before != null && before.compareTo(strength) >= 0) {
      return;
    }
    if (locks == null) {
      locks = page.makeSharedLocks();
    }
    locks.set(owner, slot, strength);
    pages[count] = page;
    rows[count++] = slot << BEFORE_BITS | (before == null ? 0 : before.number() + 1);
  }

  void addWhole(RowLocker table) {
    if (whole.isEmpty()) {
      whole = new ArrayList<>(1);
    }
    whole.add(table);
  }

  /// Number of steps and other changes.
  ///
  /// @param others other changes that count so
  public int mark(int others) {
    if (count != (steps == 0 ? 0 : marks[steps - 1])) {
      if (steps == marks.length) {
        int room = Math.max(FIRST, 2 * steps);
        marks = Arrays.copyOf(marks, room);
        numbers = Arrays.copyOf(numbers, room);
      }
      marks[steps] = count;
      numbers[steps] = others + steps + 1;
      steps++;
    }
    return others + steps;
  }

  /// Lets go of what was locked after [#mark] gave a number.
  ///
  /// @return other changes that stay
  public int rollbackTo(StoreTransaction owner, int number) {
    int kept = steps;
    while (kept > 0 && numbers[kept - 1] > number) {
      kept--;
    }
    int left = kept == 0 ? 0 : marks[kept - 1];
    while (count > left) {
      Page page = pages[--count];
      int row = rows[count];
      int before = row & BEFORE_MASK;
      page.latch();
      try {
        SharedLocks locks = page.sharedLocks();
        if (locks != null) {
          locks.set(owner, row >>> BEFORE_BITS, LockStrength.of(before - 1));
          page.dropSharedLocksIfEmpty();
        }
      } finally {
        page.unlatch();
      }
    }
    steps = kept;
    return number - kept;
  }

  /// Lets go of everything. The end of the transaction is published: waiters see it.
  @SuppressWarnings("ReferenceEquality") // the same page
  public void release(StoreTransaction owner) {
    Page last = null;
    while (count > 0) {
      Page page = pages[--count];
      if (page == last) {
        continue;
      }
      last = page;
      page.latch();
      try {
        SharedLocks locks = page.sharedLocks();
        if (locks != null) {
          locks.remove(owner);
          page.dropSharedLocksIfEmpty();
        }
      } finally {
        page.unlatch();
      }
    }
    whole.forEach(table -> table.removeOwner(owner));
    whole = List.of();
  }

  /// Adds the tables of the rows.
  public void addTables(Set<Long> tables) {
    for (int i = 0; i < count; i++) {
      tables.add(pages[i].form.tableId());
    }
  }

  /// Visitor of each lock.
  public interface Visitor {
    /// @param strength how the row is held now
    void visit(Page page, int slot, LockStrength strength);
  }

  /// Goes over the locks; a row that was locked twice comes twice. While nobody else uses the transaction.
  public void forEach(StoreTransaction owner, Visitor visitor) {
    for (int i = 0; i < count; i++) {
      Page page = pages[i];
      int slot = rows[i] >>> BEFORE_BITS;
      LockStrength strength = strength(owner, page, slot);
      if (strength != null) {
        visitor.visit(page, slot, strength);
      }
    }
  }

  private static @Nullable LockStrength strength(StoreTransaction owner, Page page, int slot) {
    page.latch();
    try {
      SharedLocks locks = page.sharedLocks();
      return locks == null ? null : locks.strength(owner, slot);
    } finally {
      page.unlatch();
    }
  }
}
