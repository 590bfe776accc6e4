package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.dml.LoadedRows;
import dev.kakehashi.engine.vector.VectorBatch;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The rows of the parts that one task of a load draws. Used by one thread at a time.
final class LoadFeed implements LoadedRows.Rejects, LoadedRows.Inserted, AutoCloseable {
  private final LoadSource files;
  private final SourceRows rows;
  private final RowPlaces places = new RowPlaces();
  private @Nullable LoadPart part;

  /// First row of the last filling in its row batch.
  private int first;

  /// Rows that the part had read before its row batch.
  private long before;

  /// Whether a row of the row batch is missing there, because the files have rejected it.
  private boolean gaps;

  LoadFeed(LoadSource files, SourceRows rows) {
    this.files = files;
    this.rows = rows;
  }

  /// Whether there is a part, maybe the next one; false: there are no more.
  boolean hasPart() {
    if (part == null) {
      part = files.next();
    }
    return part != null;
  }

  /// Whether there is a part already.
  boolean isWithinPart() {
    return part != null;
  }

  LoadPart part() {
    return Objects.requireNonNull(part);
  }

  /// Puts the next rows of the part into a batch; false: it has no more.
  ///
  /// @param most rows at most, at least 1
  boolean fill(VectorBatch to, int most) {
    while (rows.isEmpty()) {
      rows.end();
      before = part().rows();
      MemorySegment batch = part().next();
      if (batch == null) {
        return false;
      }
      rows.begin(batch);
      gaps = part().rows() - before != rows.rowCount();
    }
    first = rows.taken();
    places.begin(part().number(), before + first);
    rows.fill(to, most);
    return true;
  }

  /// Says which values of the last filling stand for defaults.
  void markDefaults(LoadedRows to, int columns) {
    to.clearDefaults();
    LoadPart from = part();
    if (!from.hasDefaults()) {
      return;
    }
    int size = to.input().size;
    for (int row = 0; row < size; row++) {
      for (int column = 0; column < columns; column++) {
        if (from.isDefault(first + row, column)) {
          to.markDefault(row, column);
        }
      }
    }
  }

  /// Whether [#unfill()] leaves a position that is known.
  boolean canUnfill() {
    return !gaps || first == 0;
  }

  /// Takes the last filling back, so that it comes again.
  void unfill() {
    rows.back(first);
  }

  /// Whether [#position()] is known now.
  boolean hasPosition() {
    return !gaps || rows.isEmpty();
  }

  /// Rows of the part that have been read, and were left out by conditions.
  long leftOut() {
    return part().leftOut();
  }

  /// Rows of the part that have been read, and given or rejected.
  long position() {
    return rows.isEmpty() ? part().rows() : before + rows.taken();
  }

  /// Only of a load without gaps: then its rows are known by their numbers.
  @Override
  public void inserted(int row, long rowId) {
    places.add(row, rowId);
  }

  /// Where the rows come from that it was told of.
  RowPlaces places() {
    return places;
  }

  /// From here on rows may be read once more. [#position()] is known.
  void mark() {
    part().mark(position());
  }

  /// Goes back to the mark.
  void rewind() {
    rows.end();
    gaps = false;
    part().rewind();
  }

  @Override
  public void reject(int row, EngineException failure) {
    part().reject(first + row, failure);
  }

  /// The part is needed no longer.
  void endPart() {
    rows.end();
    LoadPart open = part;
    part = null;
    if (open != null) {
      open.close();
    }
  }

  @Override
  public void close() {
    endPart();
  }
}
