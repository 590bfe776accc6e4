package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.log.SideFileWriter;
import dev.kakehashi.engine.store.row.Page;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;

/// The rows that a transaction has changed, each once, in the order of their keys: by table, page and slot. It keeps a bit for each slot of
/// a page. Confined to one thread, but for the threads that encode rows for it.
final class ChangedRows {
  /// Pages that a thread encodes before the next one's.
  private static final int PAGES_AT_ONCE = 4;

  /// Most bytes of a row; longer ones are encoded one at a time.
  private static final int LONG_ROW_BYTES = 1 << 20;

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
    if (pages.isEmpty()) {
      return;
    }
    pages.sort(
        Comparator.<Page>comparingLong(page -> page.form.tableId())
            .thenComparingLong(page -> page.number));
    int stretches = (pages.size() + PAGES_AT_ONCE - 1) / PAGES_AT_ONCE;
    try (RowEncoders encoders =
        new RowEncoders(
            stretches,
            (stretch, pieces) -> {
              int from = stretch * PAGES_AT_ONCE;
              int end = Math.min(pages.size(), from + PAGES_AT_ONCE);
              for (Page page : pages.subList(from, end)) {
                encode(preparedKey, page, pieces);
              }
            })) {
      encoders.write(to::append);
    }
  }

  private void encode(byte[] preparedKey, Page page, RowEncoders.Pieces to)
      throws InterruptedException {
    long[] bits = slots.getOrDefault(page, new long[0]);
    for (int word = 0; word < bits.length; word++) {
      for (long left = bits[word]; left != 0; left &= left - 1) {
        int slot = (word << 6) + Long.numberOfTrailingZeros(left);
        if (!WriteList.encodeRow(preparedKey, page, slot, to.piece(), LONG_ROW_BYTES)) {
          to.apart(record -> WriteList.encodeRow(preparedKey, page, slot, record, Long.MAX_VALUE));
        }
      }
    }
  }
}
