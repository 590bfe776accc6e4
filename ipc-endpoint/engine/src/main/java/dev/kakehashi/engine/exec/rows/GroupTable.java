package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;

/// Numbers the distinct keys of rows: equal keys (nulls are equal) get the same number, new ones the next.
///
/// Open addressing over group numbers; keys are kept in order of their numbers. Confined to one task at a time.
public final class GroupTable {
  private static final int FIRST_SLOTS = 64;
  private static final long NULL_HASH = 0x9E3779B97F4A7C15L;

  private final ColumnKind[] kinds;
  private final MaterializedRows keys;
  private final MemoryAccount memory;
  private long accounted;

  /// Group + 1, or 0 when free; length is a power of two, at most half full.
  private int[] slots = new int[FIRST_SLOTS];

  private long[] hashes = new long[FIRST_SLOTS / 2];
  private final long[] batchHashes = new long[VectorBatch.CAPACITY];
  private final ColumnVector[] single;

  public GroupTable(int[] keyOids, MemoryAccount memory) {
    this.kinds = MaterializedRows.kinds(keyOids);
    this.memory = memory;
    this.keys = new MaterializedRows(keyOids, memory);
    this.single = new ColumnVector[kinds.length];
  }

  public int size() {
    return keys.size();
  }

  public MaterializedRows keys() {
    return keys;
  }

  /// Finds or makes the groups of a batch's live rows: `groups[k]` for the k-th.
  public void find(ColumnVector[] columns, VectorBatch batch, int[] groups) {
    int live = batch.liveRows();
    boolean dense = batch.selected < 0;
    int[] selection = batch.selection;
    Arrays.fill(batchHashes, 0, live, 0);
    for (int c = 0; c < kinds.length; c++) {
      hashColumn(columns[c], kinds[c], selection, dense, live);
    }
    for (int k = 0; k < live; k++) {
      groups[k] = find(columns, dense ? k : selection[k], batchHashes[k]);
    }
    account();
  }

  /// Bytes of the keys and of the table over them.
  public long bytes() {
    return keys.bytes() + accounted;
  }

  /// Brings the statement's account up to date.
  public void account() {
    keys.account();
    setAccounted(4L * slots.length + 8L * hashes.length);
  }

  private void setAccounted(long bytes) {
    long more = bytes - accounted;
    accounted = bytes;
    if (more != 0) {
      memory.add(more);
    }
  }

  /// Finds the groups of a batch's live rows: `groups[k]` for the k-th, -1 if there is none. [#hash(int)] is of the k-th row then.
  public void lookup(ColumnVector[] columns, VectorBatch batch, int[] groups) {
    int live = batch.liveRows();
    boolean dense = batch.selected < 0;
    Arrays.fill(batchHashes, 0, live, 0);
    for (int c = 0; c < kinds.length; c++) {
      hashColumn(columns[c], kinds[c], batch.selection, dense, live);
    }
    for (int k = 0; k < live; k++) {
      groups[k] = slots[slot(columns, dense ? k : batch.selection[k], batchHashes[k])] - 1;
    }
  }

  public long hash(int k) {
    return batchHashes[k];
  }

  /// Hash of a group's key.
  public long hashOf(int group) {
    return hashes[group];
  }

  private void hashColumn(
      ColumnVector column, ColumnKind kind, int[] selection, boolean dense, int live) {
    for (int k = 0; k < live; k++) {
      int row = dense ? k : selection[k];
      long hash = column.isNull(row) ? NULL_HASH : Ordering.hash(kind, column.words[row]);
      batchHashes[k] = (batchHashes[k] * 31) + hash;
    }
  }

  /// Group of row `row` of another table with the same keys.
  public int find(GroupTable other, int row, VectorBatch scratch) {
    scratch.reset();
    other.keys.read(row, scratch, 0, 0);
    scratch.size = 1;
    System.arraycopy(scratch.columns, 0, single, 0, single.length);
    return find(single, 0, other.hashes[row]);
  }

  /// Group of the key, or -1 if there is none.
  int lookup(GroupTable other, int row, VectorBatch scratch) {
    scratch.reset();
    other.keys.read(row, scratch, 0, 0);
    System.arraycopy(scratch.columns, 0, single, 0, single.length);
    int slot = slot(single, 0, other.hashes[row]);
    return slots[slot] - 1;
  }

  private int find(ColumnVector[] columns, int row, long hash) {
    int slot = slot(columns, row, hash);
    if (slots[slot] != 0) {
      return slots[slot] - 1;
    }
    int group = keys.append(columns, row);
    slots[slot] = group + 1;
    if (group == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * group);
    }
    hashes[group] = hash;
    if (2 * (group + 1) > slots.length) {
      grow();
    }
    return group;
  }

  /// Slot that holds the key, or the free one where it belongs.
  private int slot(ColumnVector[] columns, int row, long hash) {
    int mask = slots.length - 1;
    int slot = (int) (hash ^ (hash >>> 32)) & mask;
    while (slots[slot] != 0) {
      int group = slots[slot] - 1;
      if (hashes[group] == hash && sameKey(columns, row, group)) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private boolean sameKey(ColumnVector[] columns, int row, int group) {
    for (int c = 0; c < kinds.length; c++) {
      boolean isNull = columns[c].isNull(row);
      if (isNull != keys.isNull(c, group)) {
        return false;
      }
      if (!isNull && !Ordering.equal(kinds[c], columns[c].words[row], keys.word(c, group))) {
        return false;
      }
    }
    return true;
  }

  private void grow() {
    int[] larger = new int[2 * slots.length];
    int mask = larger.length - 1;
    for (int group = 0; group < keys.size(); group++) {
      long hash = hashes[group];
      int slot = (int) (hash ^ (hash >>> 32)) & mask;
      while (larger[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      larger[slot] = group + 1;
    }
    slots = larger;
  }

  /// Forgets all groups and frees their memory.
  public void clear() {
    keys.clear();
    setAccounted(0);
    if (slots.length > FIRST_SLOTS) {
      slots = new int[FIRST_SLOTS];
      hashes = new long[FIRST_SLOTS / 2];
    } else {
      Arrays.fill(slots, 0);
    }
  }
}
