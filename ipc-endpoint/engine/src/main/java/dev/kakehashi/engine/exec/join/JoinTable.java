package dev.kakehashi.engine.exec.join;

import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/// Rows of the right side of a join, and a hash table over their keys (without keys: just the rows).
///
/// Rows and hashes are written by one task, the buckets by one or, by ranges, by several; read by any number of them afterwards.
/// [JoinBreaker] says what orders them. `matched` is written by all that probe a RIGHT or FULL join, bit by bit, and read by the last of
/// them, which [JoinBreaker#isLastProbe()] orders after the others.
public final class JoinTable {
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int MIN_HEADS = 16;

  /// Bytes of a row in the hash table, at most: two heads, a link and a hash.
  private static final int ROW_BYTES = 28;

  private static final int HEAD_BYTES = 8;
  private static final long MARKS = -1L << Integer.SIZE;

  /// Bits of a hash that choose one of 32 marks.
  private static final int MARK_BITS = 5;

  private static final int HASH_BYTES = 8;

  private final int[] keys;
  private final ColumnKind[] keyKinds;
  private final MemoryAccount memory;
  private final MaterializedRows rows;
  private final boolean isExact;

  /// The first row + 1 of each bucket's chain, in the low half, and above it a mark for each of its hashes: most keys that are not here are
  /// told by that, without a look at the rows.
  private long[] heads = new long[0];

  /// Rows + 1 behind others of their chain.
  private int[] nexts = new int[0];

  private long[] hashes = new long[0];
  private long[] matched = new long[0];
  private long accounted;

  public JoinTable(int[] typeOids, int[] keys, MemoryAccount memory) {
    this.keys = keys;
    this.memory = memory;
    this.rows = new MaterializedRows(typeOids, memory);
    this.keyKinds = new ColumnKind[keys.length];
    for (int i = 0; i < keys.length; i++) {
      keyKinds[i] = rows.kind(keys[i]);
    }
    this.isExact = keys.length == 1 && keyKinds[0] == ColumnKind.INTEGER;
  }

  /// Bytes of the rows and of the table over them, which may not have been made yet.
  long bytes() {
    return rows.bytes() + tableBytes();
  }

  /// Bytes of the table over the rows, at most.
  long tableBytes() {
    return keys.length == 0 ? 0 : (long) ROW_BYTES * rows.size();
  }

  /// Makes the table of the rows that were appended.
  public void build() {
    hashRows();
    prepare();
    link(0, 1);
  }

  /// The part of [#build()] that each task can do with its own rows, before they are put together.
  void hashRows() {
    rows.account();
    int size = rows.size();
    if (keys.length == 0 || size == 0) {
      return;
    }
    take((long) HASH_BYTES * size);
    hashes = new long[size];
    for (int row = 0; row < size; row++) {
      memory.checkCanceled(row);
      hashes[row] = hash(rows.chunk(row), MaterializedRows.inChunk(row));
    }
  }

  /// Before [#append(JoinTable)]: how many rows there will be. Their hashes count when they come, for until then they count with the tables
  /// that they come from.
  void expect(int size) {
    if (keys.length > 0) {
      hashes = Arrays.copyOf(hashes, size);
    }
  }

  /// Moves the rows of another table here, which is closed then. Rows of both have hashes.
  void append(JoinTable other) {
    int mine = rows.size();
    int theirs = other.rows.size();
    rows.appendAll(other.rows);
    if (keys.length == 0) {
      return;
    }
    // In the order that the rows have now.
    int full = mine - MaterializedRows.inChunk(mine);
    int theirFull = theirs - MaterializedRows.inChunk(theirs);
    System.arraycopy(hashes, full, hashes, full + theirFull, mine - full);
    System.arraycopy(other.hashes, 0, hashes, full, theirFull);
    System.arraycopy(other.hashes, theirFull, hashes, mine + theirFull, theirs - theirFull);
    other.close();
    take((long) HASH_BYTES * theirs);
  }

  private void take(long bytes) {
    accounted += bytes;
    memory.add(bytes);
  }

  /// Before [#link(int, int)]: all rows have hashes.
  void prepare() {
    int size = rows.size();
    matched = new long[(size + 63) >>> 6];
    if (keys.length == 0) {
      return;
    }
    int buckets = Integer.highestOneBit(Math.max(MIN_HEADS, size) * 2 - 1);
    take((long) HEAD_BYTES * buckets + 4L * size);
    heads = new long[buckets];
    nexts = new int[size];
  }

  /// Links the rows of one of `parts` equal ranges of buckets, each of them in the order of its rows. Different ranges may be linked at the
  /// same time: a row is in one of them.
  void link(int part, int parts) {
    if (keys.length == 0) {
      return;
    }
    int from = (int) ((long) heads.length * part / parts);
    int to = (int) ((long) heads.length * (part + 1) / parts);
    for (int row = rows.size() - 1; row >= 0; row--) {
      memory.checkCanceled(row);
      long hash = hashes[row];
      int bucket = bucket(hash);
      if (bucket >= from
          && bucket < to
          && (hash != 0 || !anyNull(rows.chunk(row), MaterializedRows.inChunk(row)))) {
        long head = heads[bucket];
        nexts[row] = (int) head;
        heads[bucket] = (head & MARKS) | mark(hash) | (row + 1);
      }
    }
  }

  private boolean anyNull(ColumnVector[] columns, int row) {
    for (int key : keys) {
      if (columns[key].isNull(row)) {
        return true;
      }
    }
    return false;
  }

  /// Hash of a row's keys; 0 if one is null.
  public long hash(ColumnVector[] columns, int row) {
    long hash = 0;
    for (int i = 0; i < keys.length; i++) {
      if (columns[keys[i]].isNull(row)) {
        return 0;
      }
      hash = combine(hash, Ordering.hash(keyKinds[i], columns[keys[i]].words[row]));
    }
    return hash;
  }

  static long combine(long hash, long more) {
    return (hash * 31) + more;
  }

  /// Whether equal hashes are equal keys: there is one, an integer, whose hash is another spelling of it.
  public boolean isExact() {
    return isExact;
  }

  /// A bit of the upper half, by bits of the hash that do not choose the bucket of a small table.
  private static long mark(long hash) {
    return 1L << (Integer.SIZE + (hash >>> (Long.SIZE - MARK_BITS)));
  }

  private int bucket(long hash) {
    return (int) (hash ^ (hash >>> 32)) & (heads.length - 1);
  }

  public MaterializedRows rows() {
    return rows;
  }

  public ColumnKind keyKind(int i) {
    return keyKinds[i];
  }

  /// First candidate for a key hash, or -1.
  public int first(long hash) {
    long head = heads[bucket(hash)];
    return (head & mark(hash)) == 0 ? -1 : (int) head - 1;
  }

  /// Candidate after `row`, or -1.
  public int next(int row) {
    return nexts[row] - 1;
  }

  public long hash(int row) {
    return hashes[row];
  }

  int keyColumn(int i) {
    return keys[i];
  }

  /// A bit for each row that has found a match; shared, not copied.
  long[] matches() {
    return matched;
  }

  /// Goes on with the bits of an earlier table of the same rows.
  void setMatches(long[] earlier) {
    matched = earlier;
  }

  void setMatched(int row) {
    long bit = 1L << (row & 63);
    int word = row >>> 6;
    // Most rows are found again and again, and then nothing is written.
    if (((long) WORDS.getOpaque(matched, word) & bit) == 0) {
      WORDS.getAndBitwiseOr(matched, word, bit);
    }
  }

  boolean isMatched(int row) {
    return (matched[row >>> 6] >>> (row & 63) & 1) != 0;
  }

  /// Forgets all rows and frees their memory. Idempotent.
  public void close() {
    rows.clear();
    heads = new long[0];
    nexts = new int[0];
    hashes = new long[0];
    matched = new long[0];
    memory.add(-accounted);
    accounted = 0;
  }
}
