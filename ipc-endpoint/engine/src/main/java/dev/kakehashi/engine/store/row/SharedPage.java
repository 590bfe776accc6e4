package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.protocol.layout.StorePageColumnLayout;
import dev.kakehashi.protocol.layout.StorePageLayout;

/// The part of a [Page] that is repeated in shared memory, for readers in other processes: its version, and where its stamps and columns
/// are. Written by the holder of the page's latch. Stateless.
///
/// The page's own version stays in the heap, because a thread that has come late to a page of a dropped table latches that.
final class SharedPage {
  private SharedPage() {}

  /// A header, complete, of a page that nobody knows.
  ///
  /// @return its address; 0: there are no readers in other processes
  static long make(MemoryPool pool, int columns) {
    if (pool.head() == null) {
      return 0;
    }
    long bytes = StorePageLayout.PAGE_BYTES + (long) StorePageColumnLayout.COLUMN_BYTES * columns;
    long header = pool.allocate(bytes);
    Native.zero(header, bytes);
    Native.putLong(header + StorePageLayout.COLUMNS_OFFSET, columns);
    return header;
  }

  static void free(long header, MemoryPool pool) {
    if (header != 0) {
      pool.free(header, bytes(header));
    }
  }

  private static int columns(long header) {
    return (int) Native.getLong(header + StorePageLayout.COLUMNS_OFFSET);
  }

  static long bytes(long header) {
    return StorePageLayout.PAGE_BYTES + (long) StorePageColumnLayout.COLUMN_BYTES * columns(header);
  }

  /// An odd version, before the changes that it announces: the caller orders them behind it.
  static void version(long header, long version) {
    Native.putLong(header + StorePageLayout.VERSION_OFFSET, version);
  }

  /// An even version, behind the changes.
  static void release(long header, long version) {
    Native.putLongRelease(header + StorePageLayout.VERSION_OFFSET, version);
  }

  static void stamps(long header, long address) {
    Native.putLong(header + StorePageLayout.STAMPS_OFFSET, address);
  }

  private static long entry(long header, int column) {
    return header + StorePageLayout.PAGE_BYTES + (long) StorePageColumnLayout.COLUMN_BYTES * column;
  }

  /// A column that was added to the table later has no place here: readers ask for its rows.
  static void place(long header, int column, long place) {
    if (column < columns(header)) {
      Native.putLong(entry(header, column) + StorePageColumnLayout.PLACE_OFFSET, place);
    }
  }

  static void nulls(long header, int column, long bits) {
    if (column < columns(header)) {
      Native.putLong(entry(header, column) + StorePageColumnLayout.NULLS_OFFSET, bits);
    }
  }

  /// No column has a place.
  static void clear(long header) {
    Native.zero(entry(header, 0), bytes(header) - StorePageLayout.PAGE_BYTES);
  }
}
