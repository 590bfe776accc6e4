package dev.kakehashi.engine.store.version;

import dev.kakehashi.engine.store.api.CommandView;
import dev.kakehashi.engine.store.api.OwnChange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import org.jspecify.annotations.Nullable;

/// Finds the version of a row that a view sees. Confined to one thread at a time.
public final class RowReader {
  /// The newest version is the visible one, and it is a row.
  public static final int HEAD = 0;

  /// The newest version is the visible one, and it is a tombstone.
  static final int GONE = 1;

  /// An older version is to be looked for.
  public static final int OLDER = 2;

  /// No transaction: nothing in flight is one's own.
  private static final int NOBODY = -1;

  private final StoreParts store;
  private long snapshot;
  private int ownSlot;
  private int statement;

  /// Null: all that earlier statements of the own transaction did is visible.
  private @Nullable CommandView command;

  /// Undo record of the visible version, after [#findOlder] or [#walk] returned OLDER.
  private long record;

  /// Greatest commit timestamp of what was seen; 0: nothing yet.
  private long newest;

  public RowReader(StoreParts store) {
    this.store = store;
  }

  public RowReader(StoreParts store, ReadView view) {
    this(store);
    begin(view);
  }

  /// Reads with that view from now on.
  public void begin(ReadView view) {
    snapshot = view.snapshot();
    newest = 0;
    ownSlot = TransactionSlots.slotOf(view.transactionId());
    statement = view.statement();
    command = view instanceof CommandView hiding ? hiding : null;
  }

  /// Notes that something committed was seen.
  public void saw(long timestamp) {
    if (timestamp > newest) {
      newest = timestamp;
    }
  }

  /// The reader has read all that it will: its transaction depends on it.
  public void end() {
    store.hasSeen(ownSlot, newest);
  }

  /// Whether the newest version is what the view sees. The answer counts only if the page validates afterwards.
  public int judge(long stamp) {
    boolean visible;
    if (!Stamp.isInFlight(stamp)) {
      visible = seesCommitted(Stamp.timestamp(stamp));
    } else if (Stamp.slot(stamp) == ownSlot) {
      visible = seesOwn(stamp);
    } else {
      long timestamp = store.slots().commitTimestamp(Stamp.slot(stamp));
      visible = timestamp != 0 && seesCommitted(timestamp);
    }
    return !visible ? OLDER : Stamp.isTombstone(stamp) ? GONE : HEAD;
  }

  private boolean seesCommitted(long timestamp) {
    if (timestamp > snapshot) {
      return false;
    }
    saw(timestamp);
    return true;
  }

  private boolean seesOwn(long stamp) {
    int by = Stamp.statement(stamp);
    CommandView hiding = command;
    return by < statement && (hiding == null || !hiding.hides(by));
  }

  /// Looks for the visible version along the undo records from a validated undo pointer on. The caller has entered [Readers] before it read
  /// the pointer.
  ///
  /// @return its record; 0 if the view sees no row
  public long walk(long undo) {
    for (long at = undo; at != 0; at = Native.getLong(at + RowLayout.UNDO_PREVIOUS)) {
      long stamp = Native.getLong(at + RowLayout.UNDO_STAMP);
      boolean visible;
      if (!Stamp.isInFlight(stamp)) {
        visible = seesCommitted(Stamp.timestamp(stamp));
      } else {
        // Below the newest version an in-flight stamp belongs to the transaction of the version
        // above, which has not become visible by
        // committing, or we would not have come here. It may be stale, so only our own says
        // anything.
        visible = Stamp.slot(stamp) == ownSlot && seesOwn(stamp);
      }
      if (visible) {
        return Stamp.isTombstone(stamp) ? 0 : at;
      }
    }
    return 0;
  }

  /// See [dev.kakehashi.engine.store.api.TableStore#ownChange]. Nobody else changes what the own transaction has, so that no latch is
  /// needed.
  public static OwnChange ownChange(Page page, int slot, CommandView view) {
    long stamp = page.stamp(slot);
    long replaced = page.undo(slot);
    while (true) {
      if (!Stamp.isInFlight(stamp)
          || Stamp.slot(stamp) != TransactionSlots.slotOf(view.transactionId())
          || !view.hides(Stamp.statement(stamp))) {
        return OwnChange.NONE;
      }
      if (replaced == 0 || !RowLayout.isLocked(replaced)) {
        break;
      }
      // A lock is no change; below it there may be one.
      stamp = Native.getLong(replaced + RowLayout.UNDO_STAMP);
      replaced = Native.getLong(replaced + RowLayout.UNDO_PREVIOUS);
    }
    return view.precedes(Stamp.statement(stamp)) ? OwnChange.LATER_COMMAND : OwnChange.SAME_COMMAND;
  }

  /// Copies the visible version of a row.
  ///
  /// @param columns what is wanted of it
  /// @return false if the view sees no row
  public boolean read(Page page, int slot, RowVersion to, int[] columns) {
    for (int spins = 0; ; spins++) {
      long version = page.stableVersion();
      int verdict = slot < page.used ? judge(page.stamp(slot)) : GONE;
      if (verdict == HEAD) {
        to.readHead(page, slot, columns);
        if (page.validate(version)) {
          return true;
        }
      } else if (verdict == GONE) {
        if (page.validate(version)) {
          record = 0;
          return false;
        }
      } else if (findOlder(page, slot)) {
        if (record != 0) {
          to.readUndo(page.form.layout, record);
        }
        return record != 0;
      }
      Page.pause(spins);
    }
  }

  /// Sets `record`; false if the page has changed meanwhile.
  private boolean findOlder(Page page, int slot) {
    Readers readers = store.chainReaders();
    int cell = readers.enter();
    try {
      long version = page.stableVersion();
      boolean older = judge(page.stamp(slot)) == OLDER;
      long undo = page.undo(slot);
      if (!older || !page.validate(version)) {
        return false;
      }
      record = walk(undo);
      return true;
    } finally {
      readers.leave(cell);
    }
  }

  /// Whether the row's version just before or at a commit lies in what was read.
  public boolean touches(Page page, int slot, long timestamp, ReadSet reads) {
    long tableId = page.form.tableId();
    if (reads.hasTable(tableId)) {
      return true;
    }
    KeyBuffer key = new KeyBuffer(64);
    for (ReadSet.Range range : reads.ranges(tableId)) {
      if (touches(page, slot, timestamp, range, key)) {
        return true;
      }
    }
    return false;
  }

  /// Whether the row's version just before or at a commit lies in a range of an index.
  boolean touches(Page page, int slot, long timestamp, ReadSet.Range range, KeyBuffer key) {
    TableIndex index = page.form.indexById(range.indexId());
    if (index == null) {
      return true;
    }
    ownSlot = NOBODY;
    snapshot = timestamp - 1;
    if (isIn(page, slot, index, range, key)) {
      return true;
    }
    snapshot = timestamp;
    return isIn(page, slot, index, range, key);
  }

  /// Whether the row's version before or after the changes of a transaction that is about to end lies in a range of an index.
  ///
  /// @param transactionSlot its slot
  public boolean touchesInFlight(
      Page page, int slot, int transactionSlot, ReadSet.Range range, KeyBuffer key) {
    TableIndex index = page.form.indexById(range.indexId());
    if (index == null) {
      return true;
    }
    // Nobody else can have changed the row since: the newest committed version is the one before.
    snapshot = Stamp.TIMESTAMP_MASK;
    ownSlot = NOBODY;
    if (isIn(page, slot, index, range, key)) {
      return true;
    }
    ownSlot = transactionSlot;
    statement = Integer.MAX_VALUE;
    return isIn(page, slot, index, range, key);
  }

  private boolean isIn(Page page, int slot, TableIndex index, ReadSet.Range range, KeyBuffer key) {
    RowVersion version = new RowVersion(page.form.layout.columns);
    if (!read(page, slot, version, index.keyColumns)) {
      return false;
    }
    index.encode(version, key);
    if (key.length == 0) {
      return false;
    }
    key.putLong(page.rowId(slot));
    return range.contains(key);
  }
}
