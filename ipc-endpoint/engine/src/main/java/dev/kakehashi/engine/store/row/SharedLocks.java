package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Shared locks of a page's rows, which several transactions may hold at a time: [LockStrength#KEY_SHARE] and [LockStrength#SHARE]. A
/// stronger lock of a row has one holder, whose stamp is in the row itself.
///
/// A lock is of the row, whatever versions come. One transaction's locks of a page take 4 bytes each while they are few, and then two bits
/// for each slot of the page, so that those of all rows of a table take less than a hundredth of its pages.
///
/// Used by the holder of the page's latch only.
public final class SharedLocks {
  /// Locks of a transaction that are listed one by one.
  private static final int FEW = 16;

  private static final int FIRST = 2;

  private final int slots;

  /// Null: nobody holds a row.
  private @Nullable Holder first;

  SharedLocks(int slots) {
    this.slots = slots;
  }

  /// Locks of one transaction.
  private static final class Holder {
    private final StoreTransaction owner;
    private @Nullable Holder next;

    /// For each row twice its slot, and 1 more for SHARE; null: the rows are too many.
    private int @Nullable [] few = new int[FIRST];

    /// Rows that are held.
    private int count;

    /// A bit for each slot that is held at all, and for those that are held by SHARE; empty while they are few.
    private long[] held = {};

    private long[] share = {};

    Holder(StoreTransaction owner, @Nullable Holder next) {
      this.owner = owner;
      this.next = next;
    }

    private int indexOf(int[] listed, int slot) {
      for (int i = 0; i < count; i++) {
        if (listed[i] >>> 1 == slot) {
          return i;
        }
      }
      return -1;
    }

    @Nullable LockStrength strength(int slot) {
      int[] listed = few;
      if (listed == null) {
        return !hasBit(held, slot)
            ? null
            : hasBit(share, slot) ? LockStrength.SHARE : LockStrength.KEY_SHARE;
      }
      int at = indexOf(listed, slot);
      return at < 0 ? null : (listed[at] & 1) != 0 ? LockStrength.SHARE : LockStrength.KEY_SHARE;
    }

    void set(int slot, @Nullable LockStrength strength, int slots) {
      int[] listed = few;
      if (listed == null) {
        count += (strength == null ? 0 : 1) - (hasBit(held, slot) ? 1 : 0);
        setBit(held, slot, strength != null);
        setBit(share, slot, strength == LockStrength.SHARE);
        return;
      }
      int at = indexOf(listed, slot);
      if (strength == null) {
        if (at >= 0) {
          listed[at] = listed[--count];
        }
        return;
      }
      int entry = slot << 1 | (strength == LockStrength.SHARE ? 1 : 0);
      if (at >= 0) {
        listed[at] = entry;
      } else if (count < listed.length) {
        listed[count++] = entry;
      } else if (count < FEW) {
        listed = Arrays.copyOf(listed, 2 * count);
        listed[count++] = entry;
        few = listed;
      } else {
        toBits(listed, slots);
        set(slot, strength, slots);
      }
    }

    private void toBits(int[] listed, int slots) {
      held = new long[(slots + 63) >>> 6];
      share = new long[held.length];
      for (int i = 0; i < count; i++) {
        setBit(held, listed[i] >>> 1, true);
        setBit(share, listed[i] >>> 1, (listed[i] & 1) != 0);
      }
      few = null;
    }

    private static boolean hasBit(long[] bits, int slot) {
      return (bits[slot >>> 6] >>> (slot & 63) & 1) != 0;
    }

    private static void setBit(long[] bits, int slot, boolean isSet) {
      long bit = 1L << (slot & 63);
      bits[slot >>> 6] = isSet ? bits[slot >>> 6] | bit : bits[slot >>> 6] & ~bit;
    }
  }

  @SuppressWarnings("ReferenceEquality") // the same transaction
  private @Nullable Holder holder(StoreTransaction owner) {
    Holder each = first;
    while (each != null && each.owner != owner) {
      each = each.next;
    }
    return each;
  }

  /// How a transaction holds a row; null: not by a lock of this kind.
  public @Nullable LockStrength strength(StoreTransaction owner, int slot) {
    Holder holder = holder(owner);
    return holder == null ? null : holder.strength(slot);
  }

  /// Changes how a transaction holds a row.
  ///
  /// @param strength a shared one; null: it does not any more
  public void set(StoreTransaction owner, int slot, @Nullable LockStrength strength) {
    Holder holder = holder(owner);
    if (holder == null) {
      if (strength == null) {
        return;
      }
      holder = new Holder(owner, first);
      first = holder;
    }
    holder.set(slot, strength, slots);
    if (holder.count == 0) {
      remove(owner);
    }
  }

  /// Lets go of all rows of a transaction.
  @SuppressWarnings("ReferenceEquality") // the same transaction
  public void remove(StoreTransaction owner) {
    Holder before = null;
    for (Holder each = first; each != null; each = each.next) {
      if (each.owner == owner) {
        if (before == null) {
          first = each.next;
        } else {
          before.next = each.next;
        }
        return;
      }
      before = each;
    }
  }

  public boolean isEmpty() {
    return first == null;
  }

  /// Other transactions that hold a row so that it cannot be held as is wanted.
  @SuppressWarnings("ReferenceEquality") // the same transaction
  public List<StoreTransaction> others(StoreTransaction own, int slot, LockStrength wanted) {
    List<StoreTransaction> found = List.of();
    for (Holder each = first; each != null; each = each.next) {
      LockStrength strength = each.owner == own ? null : each.strength(slot);
      if (strength != null && strength.conflictsWith(wanted)) {
        if (found.isEmpty()) {
          found = new ArrayList<>(1);
        }
        found.add(each.owner);
      }
    }
    return found;
  }
}
