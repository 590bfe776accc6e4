package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.type.Ordering;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The right side of a join: its rows, and a hash table over their keys (without keys: just the rows).
///
/// Written in its own stage, read by the probing tasks of the next one. `matched` is written by the single task that probes
/// a RIGHT or FULL join.
final class JoinBreaker extends Breaker {
  private static final int MIN_HEADS = 16;

  private final int[] typeOids;
  private final int[] keys;
  private final ColumnKind[] keyKinds;
  private final MemoryAccount memory;
  private final List<Side> sides = new ArrayList<>();
  private MaterializedRows rows;

  /// First row + 1 of each bucket's chain, then the next ones.
  private int[] heads = new int[0];

  private int[] nexts = new int[0];
  private long[] hashes = new long[0];
  private long[] matched = new long[0];
  private long accounted;

  JoinBreaker(int[] typeOids, int[] keys, MemoryAccount memory) {
    this.typeOids = typeOids;
    this.keys = keys;
    this.memory = memory;
    this.rows = new MaterializedRows(typeOids, memory);
    ColumnKind[] kinds = MaterializedRows.kinds(typeOids);
    this.keyKinds = new ColumnKind[keys.length];
    for (int i = 0; i < keys.length; i++) {
      keyKinds[i] = kinds[keys[i]];
    }
  }

  private final class Side implements Collector {
    private final MaterializedRows part = new MaterializedRows(typeOids, memory);

    @Override
    public void accept(VectorBatch batch) {
      part.append(batch);
    }

    @Override
    public void finish() {}
  }

  @Override
  void open(Execution execution) {}

  @Override
  Collector newCollector() {
    Side side = new Side();
    sides.add(side);
    return side;
  }

  @Override
  void complete(List<Collector> collectors) {
    rows = ((Side) collectors.get(0)).part;
    for (int i = 1; i < collectors.size(); i++) {
      MaterializedRows part = ((Side) collectors.get(i)).part;
      for (int row = 0; row < part.size(); row++) {
        rows.append(part, row);
      }
      part.clear();
    }
    rows.account();
    matched = new long[(rows.size() + 63) >>> 6];
    if (keys.length > 0) {
      buildTable();
    }
  }

  private void buildTable() {
    int size = rows.size();
    int buckets = Integer.highestOneBit(Math.max(MIN_HEADS, size) * 2 - 1);
    accounted = 4L * buckets + 12L * size;
    memory.add(accounted);
    heads = new int[buckets];
    nexts = new int[size];
    hashes = new long[size];
    for (int row = size - 1; row >= 0; row--) {
      long hash = 0;
      boolean anyNull = false;
      for (int i = 0; i < keys.length && !anyNull; i++) {
        anyNull = rows.isNull(keys[i], row);
        hash = anyNull ? 0 : combine(hash, Ordering.hash(keyKinds[i], rows.word(keys[i], row)));
      }
      if (!anyNull) {
        int bucket = bucket(hash);
        hashes[row] = hash;
        nexts[row] = heads[bucket];
        heads[bucket] = row + 1;
      }
    }
  }

  static long combine(long hash, long more) {
    return (hash * 31) + more;
  }

  private int bucket(long hash) {
    return (int) (hash ^ (hash >>> 32)) & (heads.length - 1);
  }

  MaterializedRows rows() {
    return rows;
  }

  ColumnKind keyKind(int i) {
    return keyKinds[i];
  }

  /// First candidate for a key hash, or -1.
  int first(long hash) {
    return heads[bucket(hash)] - 1;
  }

  /// Candidate after `row`, or -1.
  int next(int row) {
    return nexts[row] - 1;
  }

  long hash(int row) {
    return hashes[row];
  }

  int keyColumn(int i) {
    return keys[i];
  }

  void setMatched(int row) {
    matched[row >>> 6] |= 1L << (row & 63);
  }

  boolean isMatched(int row) {
    return (matched[row >>> 6] >>> (row & 63) & 1) != 0;
  }

  @Override
  void close() {
    for (Side side : sides) {
      side.part.clear();
    }
    sides.clear();
    heads = new int[0];
    nexts = new int[0];
    hashes = new long[0];
    Arrays.fill(matched, 0);
    memory.add(-accounted);
    accounted = 0;
  }
}
