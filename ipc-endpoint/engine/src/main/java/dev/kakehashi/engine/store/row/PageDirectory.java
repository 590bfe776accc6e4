package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.StoreHead;
import dev.kakehashi.protocol.layout.StoreTableLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Addresses of the [SharedPage]s of a table by the numbers of pages, for readers in other processes. Not thread-safe: [PageList] calls
/// under its lock.
///
/// Parts of [#PART_PAGES] addresses, which stay, and a list of parts, which is replaced by a longer one: the version of the table's cell
/// changes before the old one is freed.
final class PageDirectory {
  static final int PART_PAGES = StoreTableLayout.PART_PAGES;
  private static final int PART_BYTES = PART_PAGES * Long.BYTES;
  private static final int FIRST_PARTS = 4;

  private final MemoryPool pool;
  private final StoreHead head;
  private final long cell;

  /// Addresses of parts; 0: there are none.
  private long parts;

  private int partsLength;

  private PageDirectory(MemoryPool pool, StoreHead head) {
    this.pool = pool;
    this.head = head;
    this.cell = head.takeCell();
    StoreHead.complete(cell);
  }

  static @Nullable PageDirectory of(MemoryPool pool) {
    StoreHead head = pool.head();
    return head == null ? null : new PageDirectory(pool, head);
  }

  long cell() {
    return cell;
  }

  /// Makes memory for a page's address.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY; nothing that is there has changed
  void reserve(long number) {
    int part = Math.toIntExact(number / PART_PAGES);
    if (part >= partsLength) {
      grow(Math.max(part + 1, Math.max(FIRST_PARTS, 2 * partsLength)));
    }
    long at = parts + (long) Long.BYTES * part;
    if (Native.getLong(at) == 0) {
      long made = pool.allocate(PART_BYTES);
      Native.zero(made, PART_BYTES);
      Native.putLongRelease(at, made);
    }
  }

  private void grow(int length) {
    long bytes = (long) Long.BYTES * length;
    long next = pool.allocate(bytes);
    Native.zero(next, bytes);
    long before = parts;
    long beforeBytes = (long) Long.BYTES * partsLength;
    if (before != 0) {
      Native.copyApart(before, next, (int) beforeBytes);
    }
    Native.addLong(cell + StoreTableLayout.VERSION_OFFSET, 1);
    VarHandle.fullFence();
    Native.putLongRelease(cell + StoreTableLayout.PARTS_OFFSET, next);
    Native.putLongRelease(cell + StoreTableLayout.PART_COUNT_OFFSET, length);
    Native.addLong(cell + StoreTableLayout.VERSION_OFFSET, 1);
    VarHandle.fullFence();
    parts = next;
    partsLength = length;
    if (before != 0) {
      pool.free(before, beforeBytes);
    }
  }

  /// Enters the address of a page that is complete, for which memory was reserved.
  void put(long number, long header) {
    long part = Native.getLong(parts + Long.BYTES * (number / PART_PAGES));
    Native.putLongRelease(part + Long.BYTES * (number % PART_PAGES), header);
  }

  /// From now on readers believe what is there.
  void complete() {
    StoreHead.complete(cell);
  }

  /// From now on readers do not believe what they have read with its help.
  void end() {
    StoreHead.end(cell);
  }

  /// Frees it. Nobody uses the table any more, here.
  void free() {
    head.freeCell(cell);
    for (int part = 0; part < partsLength; part++) {
      long address = Native.getLong(parts + (long) Long.BYTES * part);
      if (address != 0) {
        pool.free(address, PART_BYTES);
      }
    }
    if (parts != 0) {
      pool.free(parts, (long) Long.BYTES * partsLength);
    }
    parts = 0;
    partsLength = 0;
  }
}
