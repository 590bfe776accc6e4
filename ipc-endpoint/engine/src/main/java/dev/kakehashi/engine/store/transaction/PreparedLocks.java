package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.table.HeldLocks;
import dev.kakehashi.engine.store.table.RowTable;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;

/// The row locks of a prepared transaction in the durable image: an entry for each page, with the slot (2 bytes, the upper one first) and
/// the number of the strength (1 byte) of each lock.
///
/// Shared locks are all there. Most other locks follow from the transaction's rows: a row is there because it is changed or locked. So of
/// the other locks only those are here that hold the keys of a row that is not deleted.
final class PreparedLocks {
  private static final int LOCK_BYTES = 3;

  private PreparedLocks() {}

  static void encode(RowTransaction transaction, byte[] key, LogRecord record) {
    IdentityHashMap<Page, ByteArrayOutputStream> pages = new IdentityHashMap<>();
    WriteLog.Cursor write = transaction.writes().cursor();
    while (write.next()) {
      Page page = write.page();
      long stamp = page.stamp(write.rowSlot());
      if (write.undo() != 0
          && page.undo(write.rowSlot()) == write.undo()
          && Stamp.locksKeys(stamp)
          && !Stamp.isTombstone(stamp)) {
        add(pages, page, write.rowSlot(), LockStrength.UPDATE);
      }
    }
    HeldLocks held = transaction.held();
    if (held != null) {
      held.forEach(transaction, (page, slot, strength) -> add(pages, page, slot, strength));
    }
    pages.forEach((page, locks) ->
        record.put(
            StoreKeys.preparedLocks(key, page.form.tableId(), page.number), locks.toByteArray()));
  }

  private static void add(
      IdentityHashMap<Page, ByteArrayOutputStream> pages,
      Page page,
      int slot,
      LockStrength strength) {
    ByteArrayOutputStream locks =
        pages.computeIfAbsent(page, _ -> new ByteArrayOutputStream(LOCK_BYTES));
    locks.write(slot >>> Byte.SIZE);
    locks.write(slot);
    locks.write(strength.number());
  }

  /// Takes locks again, when the rows of the transaction are there.
  ///
  /// @param table null: it was dropped in the moment when the transaction was prepared
  static void restore(
      RowTransaction transaction, @Nullable RowTable table, long page, ByteBuffer locks) {
    while (locks.remaining() >= LOCK_BYTES) {
      int slot = locks.getShort() & 0xFFFF;
      byte number = locks.get();
      LockStrength strength = LockStrength.of(number);
      if (strength == null) {
        throw PreparedCodec.corrupted("row lock " + number);
      }
      if (table != null) {
        table.restoreLock(transaction, page << Page.SLOT_BITS | slot, strength);
      }
    }
    if (locks.hasRemaining()) {
      throw PreparedCodec.corrupted("part of a row lock");
    }
  }
}
