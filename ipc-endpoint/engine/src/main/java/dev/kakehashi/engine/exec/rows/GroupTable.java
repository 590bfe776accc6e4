package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.TextWord;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Numbers the distinct keys of rows: equal keys (nulls are equal) get the same number, new ones the next.
///
/// Open addressing over group numbers; keys are kept in order of their numbers. Texts and bytes among them may be compact words: short ones
/// are compared as words. Confined to one task at a time.
public final class GroupTable {
  private static final int FIRST_SLOTS = 64;
  private static final long NULL_HASH = 0x9E3779B97F4A7C15L;
  private static final long HASH_MASK = -1L << Integer.SIZE;

  private final ColumnKind[] kinds;
  private final MaterializedRows keys;
  private final MemoryAccount memory;
  private long accounted;

  /// Group + 1 in the low half, or 0 when free, and above it the upper half of its hash; length is a power of two, at most half full.
  private long[] slots = new long[FIRST_SLOTS];

  /// Whether equal hashes are equal keys, but for null: there is one, an integer, whose hash is another spelling of it.
  private final boolean isExact;

  private long[] hashes = new long[FIRST_SLOTS / 2];
  private final long[] batchHashes = new long[VectorBatch.CAPACITY];
  private final ColumnVector[] single;

  /// Short texts of the rows of a batch, and those of groups, by column; null for columns of other kinds. 0: a long text.
  private final long[] @Nullable [] batchTexts;

  private final long[] @Nullable [] texts;
  private int textColumns;

  public GroupTable(int[] keyOids, MemoryAccount memory) {
    this.kinds = MaterializedRows.kinds(keyOids);
    this.memory = memory;
    this.keys = new MaterializedRows(keyOids, memory);
    this.single = new ColumnVector[kinds.length];
    this.isExact = kinds.length == 1 && kinds[0] == ColumnKind.INTEGER;
    this.batchTexts = new long[kinds.length][];
    this.texts = new long[kinds.length][];
    for (int c = 0; c < kinds.length; c++) {
      if (TextWord.isText(kinds[c])) {
        batchTexts[c] = new long[VectorBatch.CAPACITY];
        texts[c] = new long[hashes.length];
        textColumns++;
      }
    }
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
      hashColumn(columns[c], c, selection, dense, live);
    }
    for (int k = 0; k < live; k++) {
      groups[k] = find(columns, dense ? k : selection[k], k, batchHashes[k], batch.heap);
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
    setAccounted(8L * slots.length + 8L * hashes.length * (1 + textColumns));
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
      hashColumn(columns[c], c, batch.selection, dense, live);
    }
    for (int k = 0; k < live; k++) {
      groups[k] = group(slots[slot(columns, dense ? k : batch.selection[k], k, batchHashes[k])]);
    }
  }

  public long hash(int k) {
    return batchHashes[k];
  }

  /// Hash of a group's key.
  public long hashOf(int group) {
    return hashes[group];
  }

  private void hashColumn(ColumnVector column, int c, int[] selection, boolean dense, int live) {
    ColumnKind kind = kinds[c];
    long[] shorts = batchTexts[c];
    for (int k = 0; k < live; k++) {
      int row = dense ? k : selection[k];
      long hash = NULL_HASH;
      if (!column.isNull(row)) {
        long word = column.words[row];
        long text = shorts == null ? 0 : TextWord.ofShort(kind, word);
        if (shorts != null) {
          shorts[k] = text;
        }
        hash = text != 0 ? RawMemory.mix(text) : Ordering.hash(kind, word);
      }
      batchHashes[k] = (batchHashes[k] * 31) + hash;
    }
  }

  /// Takes the short texts of a key over.
  private void readTexts(GroupTable other, int row) {
    for (int c = 0; c < kinds.length; c++) {
      long[] to = batchTexts[c];
      long[] from = other.texts[c];
      if (to != null && from != null) {
        to[0] = from[row];
      }
    }
  }

  /// Finds or makes the groups of all of another table's keys: `map[g]` for its group `g`.
  ///
  /// @param other has the same columns
  /// @throws dev.kakehashi.engine.api.error.EngineException when the statement is canceled meanwhile
  public void findAll(GroupTable other, int[] map) {
    try (VectorBatch scratch = new VectorBatch(kinds.length)) {
      for (int group = 0; group < other.size(); group++) {
        memory.checkCanceled(group);
        long hash = other.hashes[group];
        map[group] =
            isExact && hash != NULL_HASH
                ? findExact(other, group, hash)
                : find(other, group, scratch);
      }
    }
    account();
  }

  /// The same for one whose hash is its key, at which [#slot] does not look.
  private int findExact(GroupTable other, int row, long hash) {
    int slot = slot(single, 0, 0, hash);
    if (slots[slot] != 0) {
      return group(slots[slot]);
    }
    int group = keys.size();
    keys.append(other.keys, row);
    put(slot, group, hash);
    return group;
  }

  /// Group of row `row` of another table with the same keys.
  private int find(GroupTable other, int row, VectorBatch scratch) {
    scratch.reset();
    other.keys.read(row, scratch, 0, 0);
    scratch.size = 1;
    System.arraycopy(scratch.columns, 0, single, 0, single.length);
    readTexts(other, row);
    return find(single, 0, 0, other.hashes[row], scratch.heap);
  }

  /// Group of the key, or -1 if there is none.
  int lookup(GroupTable other, int row, VectorBatch scratch) {
    scratch.reset();
    other.keys.read(row, scratch, 0, 0);
    System.arraycopy(scratch.columns, 0, single, 0, single.length);
    readTexts(other, row);
    return group(slots[slot(single, 0, 0, other.hashes[row])]);
  }

  /// @param k number of the row among those of the batch
  private int find(ColumnVector[] columns, int row, int k, long hash, VarHeap heap) {
    int slot = slot(columns, row, k, hash);
    if (slots[slot] != 0) {
      return group(slots[slot]);
    }
    int group = append(columns, row, k, heap);
    put(slot, group, hash);
    return group;
  }

  private void put(int slot, int group, long hash) {
    if (group == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * group);
    }
    slots[slot] = entry(group, hash);
    hashes[group] = hash;
    if (2 * (group + 1) > slots.length) {
      grow();
    }
  }

  private int append(ColumnVector[] columns, int row, int k, VarHeap heap) {
    for (int c = 0; c < kinds.length; c++) {
      if (batchTexts[c] != null && !columns[c].isNull(row)) {
        columns[c].words[row] = TextWord.inMemory(columns[c].words[row], heap);
      }
    }
    int group = keys.append(columns, row);
    for (int c = 0; c < kinds.length; c++) {
      long[] from = batchTexts[c];
      long[] to = texts[c];
      if (from != null && to != null) {
        if (group == to.length) {
          to = Arrays.copyOf(to, 2 * group);
          texts[c] = to;
        }
        to[group] = from[k];
      }
    }
    return group;
  }

  /// Slot that holds the key, or the free one where it belongs.
  private int slot(ColumnVector[] columns, int row, int k, long hash) {
    int mask = slots.length - 1;
    int slot = (int) (hash ^ (hash >>> 32)) & mask;
    for (long entry = slots[slot]; entry != 0; entry = slots[slot]) {
      int group = group(entry);
      if (((entry ^ hash) & HASH_MASK) == 0
          && hashes[group] == hash
          && ((isExact && hash != NULL_HASH) || sameKey(columns, row, k, group))) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private static long entry(int group, long hash) {
    return (hash & HASH_MASK) | (group + 1);
  }

  /// Group of an entry; -1 of a free one.
  private static int group(long entry) {
    return (int) entry - 1;
  }

  private boolean sameKey(ColumnVector[] columns, int row, int k, int group) {
    for (int c = 0; c < kinds.length; c++) {
      boolean isNull = columns[c].isNull(row);
      if (isNull != keys.isNull(c, group)) {
        return false;
      }
      if (!isNull && !sameValue(columns[c].words[row], c, k, group)) {
        return false;
      }
    }
    return true;
  }

  private boolean sameValue(long word, int c, int k, int group) {
    long[] shorts = batchTexts[c];
    long[] ofGroups = texts[c];
    if (shorts != null && ofGroups != null && (shorts[k] | ofGroups[group]) != 0) {
      return shorts[k] == ofGroups[group];
    }
    return Ordering.equal(kinds[c], word, keys.word(c, group));
  }

  private void grow() {
    long[] larger = new long[2 * slots.length];
    int mask = larger.length - 1;
    for (int group = 0; group < keys.size(); group++) {
      long hash = hashes[group];
      int slot = (int) (hash ^ (hash >>> 32)) & mask;
      while (larger[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      larger[slot] = entry(group, hash);
    }
    slots = larger;
  }

  /// Forgets all groups and frees their memory.
  public void clear() {
    keys.clear();
    setAccounted(0);
    if (slots.length > FIRST_SLOTS) {
      slots = new long[FIRST_SLOTS];
      hashes = new long[FIRST_SLOTS / 2];
      for (int c = 0; c < kinds.length; c++) {
        if (texts[c] != null) {
          texts[c] = new long[hashes.length];
        }
      }
    } else {
      Arrays.fill(slots, 0);
    }
  }
}
