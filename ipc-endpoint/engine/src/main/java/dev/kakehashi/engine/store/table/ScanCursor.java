package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.PageCursor;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Words;
import dev.kakehashi.engine.store.version.RowReader;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.DeferredValues;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.BitSet;

/// A scan of a range of pages.
///
/// A step copies a run of row slots of one page, without a latch, and validates the page's version before it believes the copy. Three ways,
/// the first by far the most frequent:
///
/// 1. Everything in the page is committed and not younger than the snapshot, and every slot has a row: whole columns are copied.
/// 2. The same with gaps: the words of live rows are gathered.
/// 3. Otherwise each row's stamp is judged. Rows whose newest version is visible are gathered; undo pointers of the others are noted,
///    and followed after the validation.
///
/// By-reference values are copied after the validation, when the addresses are known to be good for as long as the transaction lives. If
/// they are deferred, words stay the store's until then, with [#DEFERRED] in those that are plain addresses: so low bits say in each row
/// whether it has been copied.
/// A page that is changed all the time makes validation fail: the run is halved each time, so that it gets shorter than the gaps between
/// changes, and at the end read under the latch.
final class ScanCursor implements PageCursor, DeferredValues {
  /// Values of so many rows stay in the nearest cache from column to column.
  private static final int ROWS_PER_COPY = 64;

  private static final int LATCH_AFTER_FAILURES = 16;

  /// Slots that are looked at at a time, also where fewer rows are wanted: there may be none in them.
  private static final int SHORTEST_RUN = 64;

  private static final int DEFERRED = 7;

  private final RowTable table;
  private final RowLayout layout;
  private final RowReader reader;
  private final Readers readers;
  private final long snapshot;
  private final int[] columns;
  private final boolean withRowIds;
  private long endPage;
  private long pageNumber;
  private int slot;
  private boolean closed;
  private boolean defers;

  private final int[] gathered = new int[VectorBatch.CAPACITY];

  /// Undo pointers to follow, and whose row they are.
  private final long[] undos = new long[VectorBatch.CAPACITY];

  private final int[] undoSlots = new int[VectorBatch.CAPACITY];
  private int undoCount;

  ScanCursor(
      RowTable table,
      ReadView view,
      long firstPage,
      long endPage,
      int[] columns,
      boolean withRowIds) {
    this.table = table;
    this.layout = table.form.layout;
    this.reader = new RowReader(table.store, view);
    this.readers = table.store.chainReaders();
    this.snapshot = view.snapshot();
    this.columns = columns;
    this.withRowIds = withRowIds;
    place(firstPage, endPage);
  }

  @Override
  public void moveTo(long newFirstPage, long newEndPage) {
    if (closed) {
      throw new IllegalStateException("the cursor is closed");
    }
    place(newFirstPage, newEndPage);
  }

  private void place(long newFirstPage, long newEndPage) {
    pageNumber = Math.max(0, newFirstPage);
    endPage = Math.min(newEndPage, table.pageCount());
    slot = 0;
  }

  @Override
  public boolean next(VectorBatch batch) {
    batch.reset();
    while (!closed && batch.size < batch.wanted && pageNumber < endPage) {
      Page page = table.page(pageNumber);
      if (page == null || !step(page, batch)) {
        pageNumber++;
        slot = 0;
      }
    }
    return batch.size > 0;
  }

  /// Copies a run of slots.
  ///
  /// @return false if there are no more in the page
  private boolean step(Page page, VectorBatch batch) {
    int base = batch.size;
    int limit = Math.min(batch.capacity - base, Math.max(batch.wanted - base, SHORTEST_RUN));
    for (int failures = 0; ; failures++) {
      // Before any undo pointer is read.
      boolean mixed = isMixed(page);
      int cell = mixed ? readers.enter() : 0;
      int run;
      try {
        run = attempt(page, batch, limit, failures >= LATCH_AFTER_FAILURES, mixed);
      } finally {
        if (mixed) {
          readers.leave(cell);
        }
      }
      if (run == 0) {
        return false;
      }
      if (run > 0) {
        slot += run;
        if (defers) {
          deferValues(batch, base);
        } else {
          copyValues(batch, base);
        }
        return true;
      }
      clearNulls(batch, base);
      limit = Math.max(1, Math.min(limit, page.used - slot) / 2);
      Page.pause(failures);
    }
  }

  /// Whether some newest versions may not be what the snapshot sees.
  private boolean isMixed(Page page) {
    return page.inFlight != 0 || page.lastCommit > snapshot;
  }

  /// Copies a run of slots if nobody changes the page meanwhile.
  ///
  /// @param mixed undo pointers may be followed
  /// @return slots; 0: there are no more; -1: the page was changed
  private int attempt(Page page, VectorBatch batch, int limit, boolean latched, boolean mixed) {
    if (latched) {
      page.latch();
    }
    long version = latched ? 0 : page.stableVersion();
    int run = Math.min(limit, page.used - slot);
    int base = batch.size;
    boolean valid = mixed || !isMixed(page);
    undoCount = 0;
    int rows = run <= 0 || !valid ? 0 : copyRun(page, slot, run, batch, base);
    valid &= latched || page.validate(version);
    if (latched) {
      page.unlatch();
    }
    if (!valid) {
      return -1;
    }
    batch.size = base + rows;
    followUndos(page, batch);
    return Math.max(0, run);
  }

  private int copyRun(Page page, int from, int run, VectorBatch batch, int base) {
    if (!isMixed(page)) {
      reader.saw(page.lastCommit);
      if (page.liveCount == page.used) {
        copyColumns(page, from, run, batch, base);
        return run;
      }
      int rows = gatherLive(page, from, run);
      copyGathered(page, rows, batch, base);
      return rows;
    }
    int rows = 0;
    for (int i = from; i < from + run; i++) {
      int verdict = reader.judge(page.stamp(i));
      if (verdict == RowReader.HEAD) {
        gathered[rows++] = i;
      } else if (verdict == RowReader.OLDER) {
        undos[undoCount] = page.undo(i);
        undoSlots[undoCount++] = i;
      }
    }
    copyGathered(page, rows, batch, base);
    return rows;
  }

  private void copyColumns(Page page, int from, int run, VectorBatch batch, int base) {
    for (int k = 0; k < columns.length; k++) {
      int c = columns[k];
      long place = page.place(c);
      if (place == 0) {
        fillMissing(batch.columns[k], c, base, run);
        continue;
      }
      Words.copy(place, from, batch.columns[k].words, base, run);
      long nulls = page.nulls(c);
      if (nulls != 0) {
        for (int i = 0; i < run; i++) {
          int s = from + i;
          if ((Native.getLong(nulls + 8L * (s >>> 6)) >>> (s & 63) & 1) != 0) {
            batch.columns[k].setNull(base + i);
          }
        }
      }
    }
    if (withRowIds) {
      for (int i = 0; i < run; i++) {
        batch.rowIds[base + i] = page.rowId(from + i);
      }
    }
  }

  /// For a column that has its missing value in all rows of a page.
  private void fillMissing(ColumnVector to, int column, int base, int rows) {
    if (layout.isMissingNull(column)) {
      for (int row = base; row < base + rows; row++) {
        to.setNull(row);
      }
    } else {
      Arrays.fill(to.words, base, base + rows, layout.missing(column));
    }
  }

  /// Finds the live slots of a run by the page's bit set.
  private int gatherLive(Page page, int from, int run) {
    int rows = 0;
    int end = from + run;
    for (int at = from; at < end; ) {
      long bits = page.live[at >>> 6] >>> (at & 63);
      int wordEnd = Math.min(end, (at | 63) + 1);
      while (bits != 0) {
        int next = at + Long.numberOfTrailingZeros(bits);
        if (next >= wordEnd) {
          break;
        }
        gathered[rows++] = next;
        bits &= bits - 1;
      }
      at = wordEnd;
    }
    return rows;
  }

  private void copyGathered(Page page, int rows, VectorBatch batch, int base) {
    for (int k = 0; k < columns.length; k++) {
      int c = columns[k];
      long place = page.place(c);
      if (place == 0) {
        fillMissing(batch.columns[k], c, base, rows);
        continue;
      }
      Words.gather(place, gathered, rows, batch.columns[k].words, base);
      long nulls = page.nulls(c);
      if (nulls != 0) {
        for (int i = 0; i < rows; i++) {
          int s = gathered[i];
          if ((Native.getLong(nulls + 8L * (s >>> 6)) >>> (s & 63) & 1) != 0) {
            batch.columns[k].setNull(base + i);
          }
        }
      }
    }
    if (withRowIds) {
      for (int i = 0; i < rows; i++) {
        batch.rowIds[base + i] = page.rowId(gathered[i]);
      }
    }
  }

  private void followUndos(Page page, VectorBatch batch) {
    for (int i = 0; i < undoCount; i++) {
      long record = reader.walk(undos[i]);
      if (record != 0) {
        copyRecord(record, batch, batch.size);
        if (withRowIds) {
          batch.rowIds[batch.size] = page.rowId(undoSlots[i]);
        }
        batch.size++;
      }
    }
  }

  private void copyRecord(long record, VectorBatch batch, int row) {
    for (int k = 0; k < columns.length; k++) {
      int c = columns[k];
      if (layout.isUndoNull(record, c)) {
        batch.columns[k].setNull(row);
      } else {
        batch.columns[k].words[row] = layout.undoWord(record, c);
      }
    }
  }

  /// Moves by-reference values to the batch's heap: few rows at a time, because the values of a row lie side by side in its page.
  private void copyValues(VectorBatch batch, int base) {
    for (int from = base; from < batch.size; from += ROWS_PER_COPY) {
      int end = Math.min(batch.size, from + ROWS_PER_COPY);
      for (int k = 0; k < columns.length; k++) {
        if (layout.kinds[columns[k]].byReference()) {
          copyValues(batch, columns[k], batch.columns[k].words, from, end);
        }
      }
    }
  }

  private void copyValues(VectorBatch batch, int column, long[] words, int from, int end) {
    ColumnKind kind = layout.kinds[column];
    if (kind == ColumnKind.NUMERIC) {
      copyNumerics(batch, words, from, end);
      return;
    }
    for (int row = from; row < end; row++) {
      if (words[row] != 0) {
        words[row] = RowVersion.copyValue(batch, kind, layout.fromPage(column, words[row]));
      }
    }
  }

  // ---- deferred values ----

  @Override
  public void deferValues() {
    defers = true;
  }

  private void deferValues(VectorBatch batch, int base) {
    batch.deferred = this;
    for (int k = 0; k < columns.length; k++) {
      if (layout.kinds[columns[k]].byReference()) {
        long[] words = batch.columns[k].words;
        for (int row = base; row < batch.size; row++) {
          long word = words[row];
          words[row] = word != 0 && (word & DEFERRED) == 0 ? word | DEFERRED : word;
        }
      }
    }
  }

  @Override
  public void copy(VectorBatch batch, int column) {
    copyDeferred(batch, column, 0, batch.liveRows(), false);
  }

  @Override
  public void copyAll(VectorBatch batch, BitSet compact) {
    int live = batch.liveRows();
    for (int from = 0; from < live; from += ROWS_PER_COPY) {
      int end = Math.min(live, from + ROWS_PER_COPY);
      for (int k = 0; k < columns.length; k++) {
        boolean keepsCompact = compact.get(k);
        if (!keepsCompact || layout.kinds[columns[k]] != ColumnKind.NUMERIC) {
          copyDeferred(batch, k, from, end, keepsCompact);
        }
      }
    }
  }

  @Override
  public boolean identifies(long word) {
    return (word & DEFERRED) != 0 && (word & DEFERRED) != DEFERRED;
  }

  @Override
  public Object source() {
    return table;
  }

  /// @param from among the live rows
  /// @param keepsCompact whether compact words of texts stay
  private void copyDeferred(VectorBatch batch, int k, int from, int end, boolean keepsCompact) {
    int column = k < columns.length ? columns[k] : -1;
    if (column < 0 || !layout.kinds[column].byReference()) {
      return;
    }
    long[] words = batch.columns[k].words;
    long numerics = 0;
    for (int i = from; i < end; i++) {
      int row = batch.selected < 0 ? i : batch.selection[i];
      long word = words[row];
      if (CompactWord.isNumeric(word)) {
        if (numerics == 0) {
          numerics = batch.heap.allocate((long) CompactWord.MOST_BYTES * (end - i));
        }
        CompactWord.write(word, numerics);
        words[row] = numerics;
        numerics += CompactWord.MOST_BYTES;
      } else if ((word & DEFERRED) != 0 && !(keepsCompact && CompactWord.isBytes(word))) {
        long stored = (word & DEFERRED) == DEFERRED ? word & ~DEFERRED : word;
        words[row] =
            RowVersion.copyValue(batch, layout.kinds[column], layout.fromPage(column, stored));
      }
    }
  }

  private static void copyNumerics(VectorBatch batch, long[] words, int from, int end) {
    for (int row = from; row < end; row++) {
      if (words[row] != 0 && !CompactWord.isNumeric(words[row])) {
        words[row] = RowVersion.copyValue(batch, ColumnKind.NUMERIC, words[row]);
      }
    }
    CompactWord.writeNumerics(words, from, end, batch.heap);
  }

  /// Takes back the null bits of a copy that did not validate.
  static void clearNulls(VectorBatch batch, int base) {
    for (ColumnVector column : batch.columns) {
      if (column.hasNulls) {
        for (int row = base; row < batch.capacity; row++) {
          column.nulls[row >>> 6] &= ~(1L << (row & 63));
        }
      }
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      reader.end();
    }
  }
}
