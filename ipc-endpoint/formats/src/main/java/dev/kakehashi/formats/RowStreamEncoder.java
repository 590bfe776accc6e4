package dev.kakehashi.formats;

import dev.kakehashi.engine.api.Statement;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Row batches as shared memory has them, so that a client prints the very values that the engine has made.
///
/// A stream is frames. Each begins with its kind and the bytes that follow, both as int4; all numbers are little-endian.
///
/// | kind | frame | has |
/// |---:|---|---|
/// | 1 | columns, the first one | version of the form (1), number of columns; of each the type's OID, its modifier, bytes of the name, the name in UTF-8 |
/// | 2 | rows | a row batch (PROTOCOL.md §6) |
/// | 3 | end, the last one | number of rows as int8 |
/// | 4 | failure, the last one | the problem, a JSON object in UTF-8 |
///
/// A stream without an end or a failure was cut off. Not thread-safe.
final class RowStreamEncoder implements RowEncoder {
  static final int VERSION = 1;
  static final int COLUMNS = 1;
  static final int ROWS = 2;
  static final int END = 3;
  static final int FAILURE = 4;

  private final BatchView view = new BatchView();
  private Output out = new Output(OutputStream.nullOutputStream());
  private int columnCount;

  @Override
  public void begin(List<Statement.Column> columns, OutputStream stream) throws IOException {
    out = new Output(stream);
    columnCount = columns.size();
    byte[][] names = new byte[columnCount][];
    int bytes = 2 * Integer.BYTES;
    for (int i = 0; i < columnCount; i++) {
      names[i] = columns.get(i).name().getBytes(StandardCharsets.UTF_8);
      bytes += 3 * Integer.BYTES + names[i].length;
    }
    frame(COLUMNS, bytes);
    integer(VERSION);
    integer(columnCount);
    for (int i = 0; i < columnCount; i++) {
      integer(columns.get(i).typeOid());
      integer(columns.get(i).typeModifier());
      integer(names[i].length);
      out.put(names[i]);
    }
  }

  private void frame(int kind, int bytes) throws IOException {
    integer(kind);
    integer(bytes);
  }

  private void integer(int value) throws IOException {
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      out.put(value >>> shift);
    }
  }

  @Override
  public void rows(MemorySegment batch) throws IOException {
    view.wrap(batch, columnCount);
    int bytes = Math.toIntExact(view.batchBytes());
    frame(ROWS, bytes);
    out.put(batch, 0, bytes);
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void end(long rowCount) throws IOException {
    frame(END, Long.BYTES);
    integer((int) rowCount);
    integer((int) (rowCount >>> Integer.SIZE));
    out.flush();
  }

  @Override
  public void fail(byte[] problem) throws IOException {
    frame(FAILURE, problem.length);
    out.put(problem);
    out.flush();
  }

  @Override
  public long byteCount() {
    return out.drained();
  }
}
