package dev.kakehashi.engine.store.api;

import org.jspecify.annotations.Nullable;

/// Numbers of objects as keys of maps: the same object for the same number, mostly, so that to look a table up allocates nothing.
/// Thread-safe.
public final class BoxedIds {
  private static final int KEPT = 1 << 12;

  /// By the last bits of the number. Written by anybody, without order: who finds another number makes a new object.
  private static final @Nullable Long[] CACHE = new @Nullable Long[KEPT];

  private BoxedIds() {}

  /// The number as an object.
  public static Long of(long id) {
    int at = (int) id & KEPT - 1;
    Long kept = CACHE[at];
    if (kept == null || kept != id) {
      kept = id;
      CACHE[at] = kept;
    }
    return kept;
  }
}
