package dev.kakehashi.client.direct;

import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.layout.StoreHeadLayout;
import dev.kakehashi.protocol.layout.StoreTableLayout;
import dev.kakehashi.transport.os.SharedMemory;

/// Reads the row of a key, and says when what was read is an answer. One thread.
///
/// The words that are noted first and looked at last:
///
/// | word | says |
/// |---|---|
/// | definitions | tables, rights and roles are those that the statement was prepared for |
/// | moved | no node's memory has become something else |
/// | cells' generation | table and index are there, and are what the ticket means |
/// | table's version | the directory of pages has not been replaced |
/// | leaf's version | the leaf has the same entries |
/// | page's version | each page is the same, and the values that its newest versions lead to are |
///
/// A commit is visible before it is durable: what has seen a later one than is durable is no answer.
public final class DirectReader {
  /// Tries of what others are changing, before a request is cheaper.
  private static final int MOST_TRIES = 16;

  private final StoreMemory store;
  private final DirectKey key = new DirectKey();
  private final DirectIndex index;
  private final DirectRow row;

  // Noted first.
  private long moved;
  private long tableVersion;
  private long limit;

  /// @param store stays the caller's
  public DirectReader(StoreMemory store) {
    this.store = store;
    this.index = new DirectIndex(store, key);
    this.row = new DirectRow(store);
  }

  /// Reads the newest committed row, as a statement of a READ COMMITTED transaction may that has changed nothing.
  ///
  /// @param parameters one row, of the statement's types
  /// @param to of the result's columns, empty, with room for one row; has it if the answer is ROW, and is empty otherwise
  public DirectAnswer read(DirectTicket ticket, RowBatchReader parameters, RowBatchWriter to) {
    if (parameters.rowCount() != 1 || !key.make(ticket.keys, parameters)) {
      return DirectAnswer.ASK;
    }
    long until = store.head(StoreHeadLayout.DURABLE_OFFSET);
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      note(ticket);
      if (!ticket.holds(store)) {
        return DirectAnswer.STALE;
      }
      if (key.isNull()) {
        return DirectAnswer.NO_ROW;
      }
      DirectFound found = tryOnce(ticket, parameters, until, to);
      if (found == DirectFound.FOUND) {
        return DirectAnswer.ROW;
      }
      if (to.rowCount() > 0) {
        to.dropRow();
      }
      if (found == DirectFound.NOTHING) {
        return DirectAnswer.NO_ROW;
      }
      if (found == DirectFound.ELSE) {
        return DirectAnswer.ASK;
      }
      Thread.onSpinWait();
    }
    return DirectAnswer.ASK;
  }

  private void note(DirectTicket ticket) {
    moved = store.head(StoreHeadLayout.MOVED_OFFSET);
    tableVersion = tableVersion(ticket);
    limit = store.limit();
  }

  private long tableVersion(DirectTicket ticket) {
    return SharedMemory.getLongAcquire(
        store.memory(), ticket.table + StoreTableLayout.VERSION_OFFSET);
  }

  /// @param until timestamp of the state that is read, which is durable; noted before the first page is looked at. Several entries may have
  ///     the key, of which the rows change together: what is later than that is asked for, so all of them are of one state
  private DirectFound tryOnce(
      DirectTicket ticket, RowBatchReader parameters, long until, RowBatchWriter to) {
    if ((tableVersion & 1) != 0) {
      return DirectFound.TORN;
    }
    DirectFound found = index.descend(ticket.index, limit);
    if (found != DirectFound.FOUND) {
      return found;
    }
    int slot = index.position();
    if (slot < 0) {
      return DirectFound.ELSE;
    }
    long newest = 0;
    found = DirectFound.NOTHING;
    for (; found == DirectFound.NOTHING; slot++) {
      if (slot >= index.entries()) {
        if (index.mayGoOn()) {
          return DirectFound.ELSE;
        }
        break;
      }
      found = index.entry(slot);
      if (found != DirectFound.FOUND) {
        break;
      }
      found = row.read(ticket, index.row(), limit, parameters, to);
      newest = Math.max(newest, row.newest());
    }
    return found == DirectFound.TORN ? found : confirm(ticket, newest, until, found);
  }

  /// Whether all is as it was, and not later than `until`: `found`, TORN or ELSE.
  private DirectFound confirm(DirectTicket ticket, long newest, long until, DirectFound found) {
    if (!index.isLeafUnchanged()
        || tableVersion(ticket) != tableVersion
        || store.head(StoreHeadLayout.MOVED_OFFSET) != moved
        || !ticket.holds(store)) {
      return DirectFound.TORN;
    }
    return newest > until || store.head(StoreHeadLayout.COMMON_OFFSET) > until
        ? DirectFound.ELSE
        : found;
  }
}
