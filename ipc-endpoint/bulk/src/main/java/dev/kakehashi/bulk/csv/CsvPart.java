package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.engine.api.error.EngineException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Rows of a part of a file, whose bytes it has.
final class CsvPart implements RowsPart {
  private final CsvFile file;
  private final CsvRows parser;
  private final byte[] data;
  private final int begin;
  private final int end;

  /// In the decompressed file.
  private final long offset;

  /// Bytes of the file as it is.
  private final long fileBytes;

  private long rows;
  private boolean isClosed;

  /// Where the reading ended, after the close.
  private int closedAt;

  /// The line that a place is in: lines are counted when one is asked for.
  private long line;

  private int linePlace;

  CsvPart(
      CsvFile file,
      CsvRows parser,
      byte[] data,
      int begin,
      int end,
      long offset,
      long line,
      long fileBytes) {
    this.file = file;
    this.parser = parser;
    this.data = data;
    this.begin = begin;
    this.end = end;
    this.offset = offset;
    this.line = line;
    this.linePlace = begin;
    this.fileBytes = fileBytes;
    parser.begin(data, begin, end);
  }

  @Override
  public @Nullable MemorySegment next(BadRows badRows) {
    file.context().checkCanceled();
    parser.reset();
    int checked = parser.at();
    while (parser.at() < end && !parser.batch.isFull()) {
      int from = parser.at();
      EngineException failure = parser.row();
      rows++;
      if (failure != null) {
        badRows.reject(origin(from, parser.at()), failure);
      }
      if (parser.at() - checked > 1 << 19) {
        checked = parser.at();
        file.context().checkCanceled();
      }
    }
    return parser.batch.rowCount() == 0 ? null : parser.batch.finish();
  }

  @Override
  public void rewind() {
    rows = 0;
    parser.begin(data, begin, end);
  }

  @Override
  public RowOrigin origin(int row) {
    return origin(parser.begins[row], parser.ends[row]);
  }

  private RowOrigin origin(int from, int to) {
    long at = lineAt(from);
    int last = to;
    while (last > from && (data[last - 1] == '\n' || data[last - 1] == '\r')) {
      last--;
    }
    // Only the line end goes: what is before it may be an error, but is the row's.
    last = Math.max(last, to - parser.lineEnd().bytes());
    return new RowOrigin(at, true, offset + from - begin, Arrays.copyOfRange(data, from, last));
  }

  private long lineAt(int place) {
    if (place < linePlace) {
      line -= lines(place, linePlace);
    } else {
      line += lines(linePlace, place);
    }
    linePlace = place;
    return line;
  }

  private long lines(int from, int to) {
    byte last = parser.lineEnd().last();
    long count = 0;
    for (int i = from; i < to; i++) {
      count += data[i] == last ? 1 : 0;
    }
    return count;
  }

  @Override
  public boolean hasDefaults() {
    return parser.hasDefaults();
  }

  @Override
  public boolean isDefault(int row, int column) {
    return parser.isDefault(row, column);
  }

  @Override
  public long rows() {
    return rows;
  }

  @Override
  public long readBytes() {
    int at = isClosed ? closedAt : parser.at();
    return end == begin ? fileBytes : (long) (fileBytes * ((double) (at - begin) / (end - begin)));
  }

  @Override
  public void close() {
    if (!isClosed) {
      isClosed = true;
      closedAt = parser.at();
      file.free(data, parser);
    }
  }
}
