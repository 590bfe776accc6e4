package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.SlotOwner;
import dev.kakehashi.engine.store.version.StoreParts;
import org.jspecify.annotations.Nullable;

/// A transaction as those see it who change rows for it. Used by one thread at a time.
public interface Writer extends SlotOwner {
  /// Parts of its store.
  StoreParts parts();

  /// Its reads, if they are validated; null: they are not.
  @Nullable ReadSet readSet();

  /// @throws dev.kakehashi.engine.api.error.EngineException if it has ended, or is read-only
  void checkWritable();

  /// It is about to change a table.
  ///
  /// @throws RowConflict PRESERVED
  void enter(RowTable table);

  /// It is in a table that it has been in before a restart.
  void reenter(RowTable table);

  /// Stamp of a version that it makes now.
  long stamp(boolean tombstone);

  /// Makes room for one more write, so that logging it cannot fail after it was made.
  void reserveWrite();

  /// Logs a write that room was made for.
  ///
  /// @param undo record of the row as it was before; 0: there was none
  void logWrite(RowTable table, Page page, int rowSlot, long undo);

  /// Logs inserts into a table that a part of a bulk insertion has made; room was made for one write.
  ///
  /// @param inserts not used any more
  void addWrites(RowTable table, WriteLog inserts);

  /// Counts rows that it has added, or taken away.
  void addRows(RowTable table, int count);

  /// Whether inserts that it takes back may be left to the collector, see [Garbage#addRetracted].
  boolean canRetract();

  /// Gives the collector the inserts that were taken back so far: it need not wait for the end of the transaction.
  void leaveRetracted();

  /// Gets what its rolled back writes leave.
  Garbage garbage();

  /// Its shared row locks.
  HeldLocks heldLocks();
}
