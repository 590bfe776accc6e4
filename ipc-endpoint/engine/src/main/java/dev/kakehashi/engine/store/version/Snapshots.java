package dev.kakehashi.engine.store.version;

import java.util.Arrays;

/// The snapshots that may be in use, as ranges of timestamps: `[from, to]`. Snapshots taken later are at or above `published`. Confined to
/// one thread.
public final class Snapshots {
  private final long published;
  private long[] from = new long[16];
  private long[] to = new long[16];
  private int count;

  /// @param published read before the ranges are
  Snapshots(long published) {
    this.published = published;
  }

  void add(long first, long last) {
    if (count == from.length) {
      from = Arrays.copyOf(from, count * 2);
      to = Arrays.copyOf(to, count * 2);
    }
    from[count] = first;
    to[count++] = last;
  }

  public long published() {
    return published;
  }

  /// Least snapshot in use, or the next one.
  public long horizon() {
    long least = published;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, from[i]);
    }
    return least;
  }

  /// Whether somebody may see a version made at `made` and replaced at `replaced`.
  public boolean sees(long made, long replaced) {
    if (replaced > published) {
      return true;
    }
    for (int i = 0; i < count; i++) {
      if (from[i] < replaced && to[i] >= made) {
        return true;
      }
    }
    return false;
  }

  /// Merges ranges that touch, so that many transactions with few snapshots cost little to ask.
  void compact() {
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Long.compare(from[a], from[b]));
    long[] firsts = new long[Math.max(1, count)];
    long[] lasts = new long[Math.max(1, count)];
    int merged = 0;
    for (int i : order) {
      if (merged > 0 && from[i] <= lasts[merged - 1]) {
        lasts[merged - 1] = Math.max(lasts[merged - 1], to[i]);
      } else {
        firsts[merged] = from[i];
        lasts[merged++] = to[i];
      }
    }
    from = firsts;
    to = lasts;
    count = merged;
  }
}
