package dev.kakehashi.formats;

import dev.kakehashi.engine.api.Statement;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Arrow's IPC stream: the schema, record batches of about so many bytes as the options say (or the longest row batch, if that is longer),
/// the end marker.
///
/// | type | Arrow |
/// |---|---|
/// | numeric(p,s), p ≤ 38 / ≤ 76 | Decimal128 / Decimal256 |
/// | other numeric | Utf8 |
/// | timestamp, timestamptz | Timestamp of microseconds without zone / UTC |
/// | date, time | Date32, Time64 of microseconds |
/// | interval | Interval of months, days, nanoseconds |
/// | uuid | FixedSizeBinary(16), extension `arrow.uuid` |
/// | json, jsonb | Utf8, extension `arrow.json` |
/// | bytea | Binary |
/// | arrays | List |
/// | text types, timetz | Utf8 |
///
/// Each field has PostgreSQL's name of its type as `kakehashi.type`. A value that Arrow cannot hold is an error, never a null or another
/// value: infinite and very late dates, 24:00:00, NaN in a decimal, arrays of several dimensions.
public final class ArrowEncoder implements RowEncoder {
  /// Key in the custom metadata of the message that says why a stream is cut off.
  public static final String ERROR_KEY = "kakehashi.error";

  private static final int MAX_ROWS = 1 << 16;
  private static final int ALIGNMENT = 8;
  private static final byte[] ZEROS = new byte[ALIGNMENT];
  private static final byte[] CONTINUATION = {-1, -1, -1, -1};
  private static final byte[] END = {0, 0, 0, 0};

  /// The length of a message that does not follow.
  private static final byte[] MISSING = {16, 0, 0, 0};

  private final FormatOptions options;
  private final BatchView view = new BatchView();
  private final ArrowParts parts = new ArrowParts();
  private final List<ArrowColumn> columns = new ArrayList<>();
  private final ArrowMessages messages = new ArrowMessages();
  private Output out = new Output(OutputStream.nullOutputStream());
  private int pendingRows;
  private long pendingBytes;

  ArrowEncoder(FormatOptions options) {
    this.options = options;
  }

  @Override
  public void begin(List<Statement.Column> described, OutputStream stream) throws IOException {
    List<ArrowField> fields = described.stream().map(ArrowField::of).toList();
    columns.clear();
    fields.forEach(field -> columns.add(ArrowColumn.of(field, false)));
    out = new Output(stream);
    message(messages.schema(fields, Map.of()));
  }

  /// Writes the message without its body.
  private void message(ByteBuffer metadata) throws IOException {
    int length = metadata.remaining();
    int padded = padded(length);
    out.put(CONTINUATION);
    out.need(Integer.BYTES);
    ArrowColumn.INTS.set(out.bytes, out.at, padded);
    out.at += Integer.BYTES;
    out.put(metadata.array(), metadata.arrayOffset() + metadata.position(), length);
    out.put(ZEROS, 0, padded - length);
  }

  private static int padded(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  @Override
  public void rows(MemorySegment batch) throws IOException {
    view.wrap(batch, columns.size());
    int count = view.rowCount();
    long mean = Math.max(1, view.batchBytes() / Math.max(1, count));
    int slice = Math.clamp(options.recordBatchBytes() / mean, 1, MAX_ROWS);
    for (int from = 0; from < count; ) {
      int taken = Math.min(Math.min(slice, count - from), MAX_ROWS - pendingRows);
      for (int i = 0; i < columns.size(); i++) {
        columns.get(i).append(view, i, from, from + taken);
      }
      from += taken;
      pendingRows += taken;
      pendingBytes += taken * mean;
      if (pendingBytes >= options.recordBatchBytes() || pendingRows == MAX_ROWS) {
        writeBatch();
      }
    }
  }

  private void writeBatch() throws IOException {
    if (pendingRows == 0) {
      return;
    }
    parts.clear();
    for (ArrowColumn column : columns) {
      column.collect(parts);
    }
    message(messages.recordBatch(pendingRows, parts, ArrowMessages.NO_CODEC, Map.of()));
    body();
    reset();
  }

  private void body() throws IOException {
    for (int i = 0; i < parts.bufferCount(); i++) {
      int length = parts.length(i);
      out.put(parts.buffer(i), 0, length);
      out.put(ZEROS, 0, padded(length) - length);
    }
  }

  private void reset() {
    columns.forEach(ArrowColumn::reset);
    pendingRows = 0;
    pendingBytes = 0;
  }

  @Override
  public void flush() throws IOException {
    writeBatch();
    out.flush();
  }

  @Override
  public void end(long rowCount) throws IOException {
    writeBatch();
    out.put(CONTINUATION);
    out.put(END);
    out.flush();
  }

  @Override
  public void fail(byte[] problem) throws IOException {
    // A value may have been refused in the middle of a row.
    reset();
    parts.clear();
    for (ArrowColumn column : columns) {
      column.collect(parts);
    }
    message(
        messages.recordBatch(
            0,
            parts,
            ArrowMessages.NO_CODEC,
            Map.of(ERROR_KEY, new String(problem, StandardCharsets.UTF_8))));
    body();
    out.put(CONTINUATION);
    out.put(MISSING);
    out.flush();
  }

  @Override
  public long byteCount() {
    return out.drained();
  }
}
