package dev.kakehashi.formats;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.kakehashi.engine.api.Statement;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/// Arrow's IPC stream: the schema, record batches of about so many bytes as the options say (or the longest row batch, if that is longer), the end marker.
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
/// Each field has PostgreSQL's name of its type as `kakehashi.type`. A value that Arrow cannot hold is an error, never a null or another value: infinite and very late dates, 24:00:00,
/// NaN in a decimal, arrays of several dimensions.
final class ArrowEncoder implements RowEncoder {
  /// Of the custom metadata of the message that says why a stream is cut off.
  static final String ERROR_KEY = "kakehashi.error";

  private static final int MAX_ROWS = 1 << 16;
  private static final int ALIGNMENT = 8;
  private static final byte[] ZEROS = new byte[ALIGNMENT];
  private static final byte[] CONTINUATION = {-1, -1, -1, -1};
  private static final byte[] END = {0, 0, 0, 0};

  /// The length of a message that does not follow.
  private static final byte[] MISSING = {16, 0, 0, 0};

  /// Fields and buffers of a record batch, in order.
  private static final class Parts implements ArrowColumn.Buffers {
    private long[] fields = new long[32];
    private int fieldCount;
    private byte[][] buffers = new byte[32][];
    private int[] lengths = new int[32];
    private int bufferCount;

    @Override
    public void field(int length, int nulls) {
      if (2 * fieldCount == fields.length) {
        fields = Arrays.copyOf(fields, 2 * fields.length);
      }
      fields[2 * fieldCount] = length;
      fields[2 * fieldCount + 1] = nulls;
      fieldCount++;
    }

    @Override
    public void buffer(byte[] bytes, int length) {
      if (bufferCount == lengths.length) {
        buffers = Arrays.copyOf(buffers, 2 * bufferCount);
        lengths = Arrays.copyOf(lengths, 2 * bufferCount);
      }
      buffers[bufferCount] = bytes;
      lengths[bufferCount++] = length;
    }

    void clear() {
      fieldCount = 0;
      bufferCount = 0;
    }
  }

  private final FormatOptions options;
  private final BatchView view = new BatchView();
  private final Parts parts = new Parts();
  private final List<ArrowColumn> columns = new ArrayList<>();
  private final FlatBufferBuilder builder = new FlatBufferBuilder(1 << 10);
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
    fields.forEach(field -> columns.add(ArrowColumn.of(field)));
    out = new Output(stream);
    builder.clear();
    int[] at = new int[fields.size()];
    for (int i = 0; i < at.length; i++) {
      at[i] = fields.get(i).write(builder);
    }
    int fieldsAt = Schema.createFieldsVector(builder, at);
    Schema.startSchema(builder);
    Schema.addEndianness(builder, Endianness.Little);
    Schema.addFields(builder, fieldsAt);
    message(MessageHeader.Schema, Schema.endSchema(builder), 0, 0);
  }

  /// Writes the message whose header is in the builder, without its body.
  private void message(byte kind, int headerAt, long bodyBytes, int metadataAt) throws IOException {
    Message.startMessage(builder);
    Message.addVersion(builder, MetadataVersion.V5);
    Message.addHeaderType(builder, kind);
    Message.addHeader(builder, headerAt);
    Message.addBodyLength(builder, bodyBytes);
    if (metadataAt != 0) {
      Message.addCustomMetadata(builder, metadataAt);
    }
    builder.finish(Message.endMessage(builder));
    ByteBuffer metadata = builder.dataBuffer();
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
    builder.clear();
    message(MessageHeader.RecordBatch, recordBatch(pendingRows), bodyBytes(), 0);
    body();
    reset();
  }

  private void body() throws IOException {
    for (int i = 0; i < parts.bufferCount; i++) {
      int length = parts.lengths[i];
      out.put(parts.buffers[i], 0, length);
      out.put(ZEROS, 0, padded(length) - length);
    }
  }

  private long bodyBytes() {
    long bytes = 0;
    for (int i = 0; i < parts.bufferCount; i++) {
      bytes += padded(parts.lengths[i]);
    }
    return bytes;
  }

  private int recordBatch(int rows) {
    long end = bodyBytes();
    RecordBatch.startBuffersVector(builder, parts.bufferCount);
    for (int i = parts.bufferCount - 1; i >= 0; i--) {
      end -= padded(parts.lengths[i]);
      Buffer.createBuffer(builder, end, parts.lengths[i]);
    }
    int buffersAt = builder.endVector();
    RecordBatch.startNodesVector(builder, parts.fieldCount);
    for (int i = parts.fieldCount - 1; i >= 0; i--) {
      FieldNode.createFieldNode(builder, parts.fields[2 * i], parts.fields[2 * i + 1]);
    }
    int nodesAt = builder.endVector();
    RecordBatch.startRecordBatch(builder);
    RecordBatch.addLength(builder, rows);
    RecordBatch.addNodes(builder, nodesAt);
    RecordBatch.addBuffers(builder, buffersAt);
    return RecordBatch.endRecordBatch(builder);
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
    builder.clear();
    int[] entries = {
      ArrowField.keyValue(builder, ERROR_KEY, new String(problem, StandardCharsets.UTF_8))
    };
    int metadataAt = Message.createCustomMetadataVector(builder, entries);
    long body = bodyBytes();
    message(MessageHeader.RecordBatch, recordBatch(0), body, metadataAt);
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
