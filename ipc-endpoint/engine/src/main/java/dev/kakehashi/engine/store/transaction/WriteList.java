package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.TableRuns;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowCodec;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.table.Writer;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Writes of a transaction, or of a part of its bulk insertion, in order, with their tables. Confined to one thread at a time.
public final class WriteList {
  private static final int STAMPS_PER_LATCH = 64;

  private final WriteLog log = new WriteLog();

  /// Null: there was no write so far.
  private @Nullable TableRuns<RowTable> tables;

  int size() {
    return log.size();
  }

  Page page(int write) {
    return log.page(write);
  }

  int rowSlot(int write) {
    return log.rowSlot(write);
  }

  /// Record of the row as it was before a write; 0: there was none.
  long undo(int write) {
    return log.undo(write);
  }

  /// Whether a write has locked the row only. Nobody may have freed what it replaced.
  boolean isLock(int write) {
    long undo = log.undo(write);
    return undo != 0 && RowLayout.isLocked(undo);
  }

  /// Makes room for one more write, so that adding it cannot fail after it was made; OUT_OF_MEMORY if there is none.
  void reserve() {
    if (tables == null) {
      tables = new TableRuns<>();
    }
    tables.reserve();
    log.reserve();
  }

  /// Adds a write that room was made for.
  void add(RowTable table, Page page, int rowSlot, long undo) {
    runs().add(table, log.size());
    log.add(page, rowSlot, undo);
  }

  /// Adds writes to one table; room was made for one. Their list is not used any more.
  void addAll(RowTable table, WriteLog more) {
    if (more.size() > 0) {
      runs().add(table, log.size());
      log.addAll(more);
    }
  }

  /// Takes writes back, the last one first.
  ///
  /// @param together whether many inserts may be taken back at once, and the rest of that be left to the collector
  void undo(Writer transaction, int downTo, boolean together) {
    while (log.size() > downTo) {
      WriteLog.Inserts inserts =
          together ? log.takeInserts(Math.max(downTo, runs().lastFrom())) : null;
      if (inserts != null) {
        RowTable of = runs().last();
        runs().truncate(log.size());
        of.retract(transaction, inserts);
        continue;
      }
      int last = log.size() - 1;
      Page page = log.page(last);
      int rowSlot = log.rowSlot(last);
      long undo = log.undo(last);
      log.removeLast();
      RowTable table = runs().last();
      runs().truncate(last);
      table.undoWrite(transaction, page, rowSlot, undo);
    }
  }

  /// Whether a write is the last one of its row: that one stands at the head of the chain.
  boolean isLastOfRow(int write) {
    return log.page(write).undo(log.rowSlot(write)) == log.undo(write);
  }

  private static boolean isLastOfRow(WriteLog.Cursor write) {
    return write.page().undo(write.rowSlot()) == write.undo();
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
    WriteLog.Cursor write = log.cursor();
    while (write.next()) {
      if (write.undo() != 0) {
        return true;
      }
    }
    return false;
  }

  /// Gives the list to the collector too; from now on it does not change.
  void handTo(Garbage garbage) {
    if (log.size() > 0) {
      garbage.setWrites(runs(), log);
    }
  }

  /// Replaces the stamps of all writes by the timestamp; neighbours in a page under one latch, but not so many that readers wait.
  void stamp(int transactionSlot, long timestamp) {
    WriteLog.Cursor write = log.cursor();
    boolean more = write.next();
    while (more) {
      Page page = write.page();
      int left = STAMPS_PER_LATCH;
      page.latch();
      do {
        page.stampCommitted(write.rowSlot(), transactionSlot, timestamp);
        more = write.next();
      } while (--left > 0 && more && write.page() == page);
      page.unlatch();
    }
  }

  /// Adds the writes to the tables' numbers of changes. Most transactions write one table, or one after another.
  void countChanges() {
    for (int run = 0; run < runCount(); run++) {
      runs().table(run).addChanges(runs().end(run, log.size()) - runs().from(run));
    }
  }

  /// Appends the rows as they are now.
  ///
  /// @param preparedKey of the prepared transaction that they are of; empty: it is not prepared
  /// @throws LogRecord.LogRecordTooLarge beyond 2 GB
  public void encode(byte[] preparedKey, LogRecord record) {
    WriteLog.Cursor write = log.cursor();
    while (write.next()) {
      if (isLastOfRow(write)) {
        encodeRow(preparedKey, write.page(), write.rowSlot(), record, Long.MAX_VALUE);
      }
    }
  }

  /// @param mostBytes of the row
  /// @return false: it has more bytes, and nothing was appended
  static boolean encodeRow(
      byte[] preparedKey, Page page, int rowSlot, LogRecord record, long mostBytes) {
    return preparedKey.length == 0
        ? RowCodec.encode(page, rowSlot, record, mostBytes)
        : RowCodec.encodePrepared(preparedKey, page, rowSlot, record, mostBytes);
  }

  /// Bytes that [#encode] appends.
  ///
  /// @param preparedKeyBytes of the prepared transaction's key; 0: it is not prepared
  /// @param limit counting ends where there are so many
  public long encodedBytes(int preparedKeyBytes, long limit) {
    int keyBytes = preparedKeyBytes + StoreKeys.ROW_KEY_BYTES;
    long sum = 0;
    WriteLog.Cursor write = log.cursor();
    while (sum < limit && write.next()) {
      if (isLastOfRow(write)) {
        sum += RowCodec.encodedBytes(write.page(), write.rowSlot(), keyBytes, preparedKeyBytes > 0);
      }
    }
    return sum;
  }

  WriteLog.Cursor cursor() {
    return log.cursor();
  }
}
