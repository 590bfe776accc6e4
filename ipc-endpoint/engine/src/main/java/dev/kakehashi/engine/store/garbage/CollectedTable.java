package dev.kakehashi.engine.store.garbage;

import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.TableIndex;
import org.jspecify.annotations.Nullable;

/// A table as the collector sees it: it frees what transactions have left in it. Called by the holder of the collector's lock.
public interface CollectedTable {
  /// Whether nothing of it is needed any more; its pages may be gone.
  boolean isDropped();

  /// Page by number; null if there never was a row there, or the table was freed.
  @Nullable Page page(long number);

  /// Frees what a committed write has replaced.
  void freeReplaced(Page page, int slot, long undo, long timestamp, long horizon);

  /// Removes an index entry unless some version that may still be read has its key.
  ///
  /// @param key the entry: key and row identifier
  void dropEntry(TableIndex index, Page page, int slot, KeyBuffer key, long horizon);

  /// Takes the entries of inserts that were taken back out of the indexes, notes their values as garbage, and frees their slots.
  ///
  /// @param withEntries whether they may have entries
  void vacate(WriteLog.Inserts inserts, boolean withEntries, Garbage garbage);

  /// A page has got room for rows. Called without its latch.
  void offerRoom(Page page);
}
