package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SideFileWriter;
import dev.kakehashi.engine.store.row.Page;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;

/// The rows that a transaction has changed, each once, in the order of their keys: by table, page and slot. Of each page it keeps a bit for each slot. Confined to one thread.
final class ChangedRows {
  private final IdentityHashMap<Page, long[]> slots = new IdentityHashMap<>();

  ChangedRows(WriteList writes) {
    WriteLog.Cursor write = writes.cursor();
    Page last = null;
    long[] bits = {};
    while (write.next()) {
      Page page = write.page();
      if (page != last) {
        bits = slots.computeIfAbsent(page, each -> new long[each.live.length]);
        last = page;
      }
      int slot = write.rowSlot();
      bits[slot >>> 6] |= 1L << (slot & 63);
    }
  }

  /// Writes the rows as they are now.
  ///
  /// @param preparedKey of the prepared transaction that they are of; empty: it is not prepared
  void encode(byte[] preparedKey, SideFileWriter to) {
    List<Page> pages = new ArrayList<>(slots.keySet());
    pages.sort(
        Comparator.<Page>comparingLong(page -> page.form.tableId())
            .thenComparingLong(page -> page.number));
    LogRecord piece = new LogRecord(SideFileWriter.PIECE_BYTES + (64 << 10));
    for (Page page : pages) {
      long[] bits = slots.getOrDefault(page, new long[0]);
      for (int word = 0; word < bits.length; word++) {
        for (long left = bits[word]; left != 0; left &= left - 1) {
          int slot = (word << 6) + Long.numberOfTrailingZeros(left);
          WriteList.encodeRow(preparedKey, page, slot, piece);
          if (piece.length() >= SideFileWriter.PIECE_BYTES) {
            to.append(piece);
          }
        }
      }
    }
    to.append(piece);
  }
}
