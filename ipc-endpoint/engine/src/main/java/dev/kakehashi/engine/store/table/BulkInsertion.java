package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/// A [BulkInsert] into one table. Parts and indexes that any thread may ask for are guarded by `this`.
///
/// **Why entries may come late.** A search by an index looks for rows that it can see, and nobody can see these rows: not other
/// transactions, and not the statement itself. A writer that looks for a unique key and does not find it makes an entry of its own. Our
/// entries are entered later under the same lock, and find that entry. An index build has published its index before it looks at the pages.
/// So either it finds a row there, or the row's writer has read the list with the new index, under the page's latch.
final class BulkInsertion implements BulkInsert {
  final RowTable table;
  final Writer transaction;
  private final long mark;
  private final List<BulkPart> parts = new ArrayList<>();
  private final IdentityHashMap<TableIndex, BulkIndex> indexes = new IdentityHashMap<>();
  private final Set<Long> refused = new HashSet<>();
  private long rows;
  private boolean entering;
  private boolean finished;

  /// A row has entries that are lost.
  private boolean spoiled;

  private boolean closed;

  BulkInsertion(RowTable table, Writer transaction) {
    this.table = table;
    this.transaction = transaction;
    this.mark = transaction.mark();
    // For the command that the rows are of, and so that taking over the parts' writes cannot fail.
    transaction.reserveWrite();
  }

  @Override
  public synchronized Part newPart() {
    BulkPart part = new BulkPart(this);
    parts.add(part);
    return part;
  }

  synchronized BulkIndex index(TableIndex index) {
    return indexes.computeIfAbsent(index, each -> new BulkIndex(this, each));
  }

  /// A part had no memory for the entries of a row that is in its page.
  synchronized void spoil() {
    spoiled = true;
  }

  @Override
  public void finish(Duplicates duplicates) {
    parts.forEach(BulkPart::close);
    entering = true;
    takeOver();
    if (spoiled) {
      throw new IllegalStateException("a part of the insertion has failed");
    }
    List<BulkIndex> inTheirOrder = new ArrayList<>();
    for (TableIndex index : table.form.indexes()) {
      BulkIndex collected = indexes.get(index);
      if (collected != null) {
        inTheirOrder.add(collected);
      }
    }
    for (BulkIndex index : inTheirOrder) {
      index.enter(duplicates, refused);
    }
    for (long rowId : refused) {
      table.delete(transaction, rowId);
    }
    rows -= refused.size();
    finished = true;
  }

  /// The parts have ended: what they have written is the transaction's.
  private synchronized void takeOver() {
    for (BulkPart part : parts) {
      WriteLog writes = part.takeWrites();
      rows += writes.size();
      transaction.addRows(table, writes.size());
      transaction.addWrites(table, writes);
    }
    parts.clear();
  }

  /// No row has an entry in any index.
  private synchronized void takeBack() {
    parts.forEach(BulkPart::discard);
    for (BulkPart part : parts) {
      table.undoInserts(transaction, part.takeWrites());
    }
    parts.clear();
    // Some bytes for each row: its client need not wait for that.
    List<BulkIndex> left = List.copyOf(indexes.values());
    indexes.clear();
    transaction.garbage().addUnseen(_ -> left.forEach(BulkIndex::close));
    transaction.leaveRetracted();
  }

  @Override
  public long rows() {
    return rows;
  }

  @Override
  public void read(long rowId, int[] columns, VectorBatch to) {
    to.reset();
    Page page = table.pageOf(rowId);
    RowVersion version = new RowVersion(table.form.layout.columns);
    // Nobody else changes a row of a running transaction.
    version.readHead(page, Page.slotOf(rowId));
    version.appendTo(to, table.form.layout, table.form.stored(columns));
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (!finished && entering) {
        takeOver();
        transaction.rollbackTo(mark);
      } else if (!finished) {
        takeBack();
      }
    } finally {
      indexes.values().forEach(BulkIndex::close);
    }
  }
}
