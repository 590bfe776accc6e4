package dev.kakehashi.engine.store.log;

import org.jspecify.annotations.Nullable;

/// Changes that lie over the base image, and over older layers, of an [OfflineLog]. Thread-safe once the log is open.
interface OfflineLayer {
  /// A change of one key.
  ///
  /// @param value null: deleted
  record Change(byte[] key, byte @Nullable [] value) {}

  /// Goes over changes in the order of their keys. Confined to one thread.
  interface Cursor {
    /// The change; null at the end.
    @Nullable Change change();

    void advance();
  }

  /// The changes of keys `[from, to)`, without deleted ranges.
  Cursor changes(byte[] from, byte[] to);

  /// The change of a key; null: there is none.
  @Nullable Change find(byte[] key);

  /// The greatest key in `[from, to)` that has a change; null: there is none.
  byte @Nullable [] lastKey(byte[] from, byte[] to);

  /// Beginning of the deleted range that a key of a lower layer lies in; null: it lies in none.
  byte @Nullable [] deletedFrom(byte[] key);
}
