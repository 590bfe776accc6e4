package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.TableRuns;
import dev.kakehashi.engine.store.log.HeapRoom;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowCodec;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.StoreKeys;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.table.Writer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a transaction has written, in order: of each write the page, the row's slot, and the undo record of what was there (0: nothing, an insert). Confined to one
/// thread at a time.
public final class WriteList {
  private static final int STAMPS_PER_LATCH = 64;

  private static final int FIRST_WRITES = 8;

  /// Transactions that only read have no room.
  private static final Page[] NO_PAGES = {};

  private static final int[] NO_SLOTS = {};
  private static final long[] NO_UNDOS = {};

  /// Of a write in the three arrays.
  private static final int WRITE_BYTES = 16;

  private Page[] pages = NO_PAGES;
  private int[] rowSlots = NO_SLOTS;
  private long[] undos = NO_UNDOS;
  private int size;

  /// Null: there was no write so far.
  private @Nullable TableRuns<RowTable> tables;

  int size() {
    return size;
  }

  Page page(int write) {
    return pages[write];
  }

  int rowSlot(int write) {
    return rowSlots[write];
  }

  /// Record of the row as it was before a write; 0: there was none.
  long undo(int write) {
    return undos[write];
  }

  /// Whether a write has locked the row only. Nobody may have freed what it replaced.
  boolean isLock(int write) {
    return undos[write] != 0 && RowLayout.isLocked(undos[write]);
  }

  /// Makes room for one more write, so that adding it cannot fail after it was made; OUT_OF_MEMORY if there is none.
  void reserve() {
    if (tables == null) {
      tables = new TableRuns<>();
    }
    tables.reserve();
    if (size == undos.length) {
      int capacity = Math.max(FIRST_WRITES, size * 2);
      if (capacity < HeapRoom.LONG_BYTES / WRITE_BYTES) {
        grow(capacity);
      } else {
        HeapRoom.allocate("list of changes", (long) WRITE_BYTES * capacity, () -> grow(capacity));
      }
    }
  }

  private void grow(int capacity) {
    pages = Arrays.copyOf(pages, capacity);
    rowSlots = Arrays.copyOf(rowSlots, capacity);
    undos = Arrays.copyOf(undos, capacity);
  }

  /// Adds a write that room was made for.
  void add(RowTable table, Page page, int rowSlot, long undo) {
    runs().add(table, size);
    pages[size] = page;
    rowSlots[size] = rowSlot;
    undos[size] = undo;
    size++;
  }

  /// Takes writes back, the last one first.
  void undo(Writer transaction, int downTo) {
    while (size > downTo) {
      size--;
      RowTable table = runs().last();
      runs().truncate(size);
      table.undoWrite(transaction, pages[size], rowSlots[size], undos[size]);
    }
  }

  /// Of several writes to one row the last one stands at the head of the chain.
  boolean isLastOfRow(int write) {
    return pages[write].undo(rowSlots[write]) == undos[write];
  }

  private TableRuns<RowTable> runs() {
    return Objects.requireNonNull(tables);
  }

  private int runCount() {
    return tables == null ? 0 : tables.count();
  }

  /// Tables of the rows.
  Set<Long> tables() {
    Set<Long> found = new HashSet<>();
    for (int run = 0; run < runCount(); run++) {
      found.add(runs().table(run).tableId());
    }
    return found;
  }

  boolean contains(RowTable table) {
    for (int run = 0; run < runCount(); run++) {
      if (runs().table(run) == table) {
        return true;
      }
    }
    return false;
  }

  /// Whether a version was replaced that somebody has to free.
  boolean replaces() {
    for (int i = 0; i < size; i++) {
      if (undos[i] != 0) {
        return true;
      }
    }
    return false;
  }

  /// Gives the list to the collector too; from now on it does not change.
  void handTo(Garbage garbage) {
    if (size > 0) {
      garbage.setWrites(runs(), pages, rowSlots, undos, size);
    }
  }

  /// Replaces the stamps of all writes by the timestamp; neighbours in a page under one latch, but not so many that readers wait.
  void stamp(int transactionSlot, long timestamp) {
    int at = 0;
    while (at < size) {
      Page page = pages[at];
      int end = Math.min(size, at + STAMPS_PER_LATCH);
      page.latch();
      while (at < end && pages[at] == page) {
        page.stampCommitted(rowSlots[at], transactionSlot, timestamp);
        at++;
      }
      page.unlatch();
    }
  }

  /// Adds the writes to the tables' numbers of changes. Most transactions write one table, or one after another.
  void countChanges() {
    for (int run = 0; run < runCount(); run++) {
      runs().table(run).addChanges(runs().end(run, size) - runs().from(run));
    }
  }

  /// Appends the rows as they are now.
  ///
  /// @throws LogRecord.LogRecordTooLarge beyond 2 GB
  public void encode(LogRecord record) {
    for (int i = 0; i < size; i++) {
      if (isLastOfRow(i)) {
        RowCodec.encode(pages[i], rowSlots[i], record);
      }
    }
  }

  /// Appends the rows as those of a prepared transaction.
  ///
  /// @param key of the prepared transaction
  public void encodePrepared(byte[] key, LogRecord record) {
    for (int i = 0; i < size; i++) {
      if (isLastOfRow(i)) {
        RowCodec.encodePrepared(key, pages[i], rowSlots[i], record);
      }
    }
  }

  /// Bytes that [#encode] or [#encodePrepared] appends.
  ///
  /// @param preparedKeyBytes of the prepared transaction's key; 0: it is not prepared
  public long encodedBytes(int preparedKeyBytes) {
    int keyBytes = preparedKeyBytes + StoreKeys.ROW_KEY_BYTES;
    long sum = 0;
    for (int i = 0; i < size; i++) {
      if (isLastOfRow(i)) {
        sum += RowCodec.encodedBytes(pages[i], rowSlots[i], keyBytes, preparedKeyBytes > 0);
      }
    }
    return sum;
  }
}
