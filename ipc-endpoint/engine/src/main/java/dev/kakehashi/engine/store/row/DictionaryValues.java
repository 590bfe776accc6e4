package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.StoreHead;
import dev.kakehashi.protocol.layout.StoreDictionaryLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Addresses of the values of a [TextDictionary] by code, for readers in other processes. Not thread-safe: called under the dictionary's
/// lock.
///
/// An array that a longer one has replaced stays until the dictionary goes, with its table: all of them are less than two of the last.
final class DictionaryValues {
  private static final int FIRST_VALUES = 16;

  private record Array(long address, long bytes) {}

  private final MemoryPool pool;
  private final StoreHead head;
  private final long cell;
  private final List<Array> arrays = new ArrayList<>();
  private int length;

  private DictionaryValues(MemoryPool pool, StoreHead head) {
    this.pool = pool;
    this.head = head;
    this.cell = head.takeCell();
    StoreHead.complete(cell);
  }

  static @Nullable DictionaryValues of(MemoryPool pool) {
    StoreHead head = pool.head();
    return head == null ? null : new DictionaryValues(pool, head);
  }

  long cell() {
    return cell;
  }

  /// Makes room for the address of a code.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY; nothing has changed
  void reserve(int code) {
    if (code < length) {
      return;
    }
    int longer = Math.max(FIRST_VALUES, 2 * length);
    long bytes = (long) Long.BYTES * longer;
    long address = pool.allocate(bytes);
    if (!arrays.isEmpty()) {
      Native.copyApart(arrays.getLast().address(), address, Long.BYTES * length);
    }
    arrays.add(new Array(address, bytes));
    length = longer;
    Native.putLongRelease(cell + StoreDictionaryLayout.VALUES_OFFSET, address);
  }

  /// Enters the next code's address, for which room was reserved.
  void put(int code, long address) {
    Native.putLong(arrays.getLast().address() + (long) Long.BYTES * code, address);
    Native.putLongRelease(cell + StoreDictionaryLayout.COUNT_OFFSET, code + 1L);
  }

  /// Frees it. Nobody uses the table any more, also in other processes.
  void free() {
    head.freeCell(cell);
    arrays.forEach(array -> pool.free(array.address(), array.bytes()));
    arrays.clear();
    length = 0;
  }
}
