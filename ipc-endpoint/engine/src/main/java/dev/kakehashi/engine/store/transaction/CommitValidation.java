package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.GarbageCollector;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowConflicts;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.RowReader;
import dev.kakehashi.engine.store.version.StoreParts;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Validation of one serializable transaction; for others it finds nothing. Most of the work is done by [#begin()], without the lock; under
/// it [#finish()] looks at what was committed meanwhile.
final class CommitValidation {
  private final StoreParts parts;
  private final GarbageCollector collector;
  private final SerializableTransactions serializable;
  private final Supplier<List<RowTransaction>> prepared;

  private final RowTransaction transaction;
  private final @Nullable ReadSet reads;
  private final boolean changes;
  private long validated;

  /// Earliest commit that has changed what was read.
  private long overtakenBy = Garbage.NOBODY;

  private List<RowTransaction> checked = List.of();
  private @Nullable RowConflict conflict;

  /// @param serializable is asked under the lock of the order of commits
  /// @param prepared those whose reads have to stay valid, as of now
  CommitValidation(
      RowTransaction transaction,
      StoreParts parts,
      GarbageCollector collector,
      SerializableTransactions serializable,
      Supplier<List<RowTransaction>> prepared) {
    this.parts = parts;
    this.collector = collector;
    this.serializable = serializable;
    this.prepared = prepared;
    this.transaction = transaction;
    this.reads = transaction.readSet;
    this.changes = transaction.hasChanges();
    // Nobody has changed what a long transaction has read, see LongTransactions.
    this.validated = transaction.claim() != null ? Long.MAX_VALUE : transaction.pinnedSnapshot();
  }

  boolean begin() {
    if (reads == null) {
      return true;
    }
    long upTo = Math.max(validated, parts.clock().published());
    if (!isInOrder(reads, validated, upTo) || !keepsPrepared()) {
      return false;
    }
    validated = upTo;
    return true;
  }

  boolean finish() {
    return reads == null
        || (isInOrder(reads, validated, Math.max(validated, parts.clock().published()))
            && keepsPrepared()
            && (!changes
                || overtakenBy == Garbage.NOBODY
                || !serializable.isRead(transaction, overtakenBy)));
  }

  long overtakenBy() {
    return overtakenBy;
  }

  /// Whether no write touches what a prepared transaction has read.
  private boolean keepsPrepared() {
    List<RowTransaction> now = prepared.get();
    if (!changes || now.equals(checked)) {
      return true;
    }
    RowReader reader = new RowReader(parts);
    KeyBuffer key = new KeyBuffer(64);
    for (RowTransaction other : now) {
      ReadSet guarded = other.readSet;
      for (int i = 0; guarded != null && i < transaction.writes().size(); i++) {
        if (transaction.writes().isLock(i)) {
          continue;
        }
        Page page = transaction.writes().page(i);
        long tableId = page.form.tableId();
        boolean touched = guarded.hasTable(tableId);
        if (!touched) {
          for (ReadSet.Range range : guarded.ranges(tableId)) {
            touched |=
                reader.touchesInFlight(
                    page, transaction.writes().rowSlot(i), transaction.slot, range, key);
          }
        }
        if (touched) {
          conflict = RowConflicts.changed(page, transaction.writes().rowSlot(i));
          return false;
        }
      }
    }
    checked = now;
    return true;
  }

  /// Looks for commits with timestamps in `(after, upTo]` that have changed what was read.
  ///
  /// @return false if one of them has been overtaken itself, or has changed what was read as of later commits than the snapshot
  private boolean isInOrder(ReadSet read, long after, long upTo) {
    if (after == upTo || read.isEmpty()) {
      return true;
    }
    ReadSet newest = read.presentNewest();
    RowReader reader = new RowReader(parts);
    for (Garbage garbage : collector.pending()) {
      long timestamp = garbage.timestamp();
      if (timestamp <= after || timestamp > upTo) {
        continue;
      }
      int touched = firstTouched(reader, garbage, read);
      if (touched < 0) {
        continue;
      }
      if (overtakenBy == Garbage.NOBODY) {
        conflict = RowConflicts.changed(garbage.page(touched), garbage.rowSlot(touched));
      }
      overtakenBy = Math.min(overtakenBy, timestamp);
      long before = garbage.overtakenBy();
      boolean completes = before != Garbage.NOBODY && (changes || before <= transaction.snapshot());
      if (completes || (newest != null && firstTouched(reader, garbage, newest) >= 0)) {
        return false;
      }
    }
    return true;
  }

  /// The first write that changes what was read; -1: there is none.
  private static int firstTouched(RowReader reader, Garbage garbage, ReadSet read) {
    for (int i = 0; i < garbage.writes(); i++) {
      if (!garbage.isLock(i)
          && reader.touches(garbage.page(i), garbage.rowSlot(i), garbage.timestamp(), read)) {
        return i;
      }
    }
    return -1;
  }

  /// Conflict that [#begin()] or [#finish()] found.
  RowConflict conflict() {
    return Objects.requireNonNull(conflict);
  }
}
