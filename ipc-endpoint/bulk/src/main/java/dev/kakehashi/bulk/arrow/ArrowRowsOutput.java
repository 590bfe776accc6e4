package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.arrow.ArrowOptions.Codec;
import dev.kakehashi.bulk.arrow.ArrowOptions.Infinity;
import dev.kakehashi.bulk.format.FileFormat.Description;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.value.ExactTypes;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.ArrowColumn;
import dev.kakehashi.formats.ArrowField;
import dev.kakehashi.formats.ArrowMessages;
import dev.kakehashi.formats.ArrowMessages.BatchBlock;
import dev.kakehashi.formats.ArrowParts;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Writes an Arrow file or stream: record batches of so many rows as the options say, or of about [#BATCH_BYTES]. Several outputs write one
/// file, each record batches of its own. An output is not thread-safe.
final class ArrowRowsOutput implements RowsOutput {
  static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int ALIGNMENT = 8;
  private static final byte[] ZEROS = new byte[ALIGNMENT];
  private static final int PREFIX_BYTES = 8;
  private static final long BATCH_BYTES = 32L << 20;

  /// Rows that all columns take before the next ones, so that they stay in the nearest cache.
  private static final int SLICE_ROWS = 256;

  /// Bytes of memory for a byte of rows: arrays grow by doubling.
  private static final int MEMORY_FACTOR = 2;

  /// State that the outputs of a file share. All of it is guarded by the instance.
  private static final class Shared {
    private final FileOutput file;
    private final long begin;
    private final List<BatchBlock> batches = new ArrayList<>();
    private int outputs = 1;

    Shared(FileOutput file) {
      this.file = file;
      this.begin = file.position();
    }

    synchronized void join() {
      outputs++;
    }

    synchronized long bytes() {
      return file.position() - begin;
    }
  }

  private final Shared shared;
  private final FileOutput file;
  private final List<LoadColumn> described;
  private final ArrowOptions options;
  private final BulkContext context;
  private final List<ArrowField> fields = new ArrayList<>();
  private final List<ArrowColumn> columns = new ArrayList<>();
  private final Map<String, String> metadata;
  private final ArrowMessages messages = new ArrowMessages();
  private final ArrowParts parts = new ArrowParts();
  private final ArrowBuffers buffers = new ArrowBuffers();
  private final BatchView view = new BatchView();
  private int pendingRows;
  private long pendingBytes;
  private long reserved;
  private long rows;

  ArrowRowsOutput(
      FileOutput file,
      List<LoadColumn> described,
      Description description,
      ArrowOptions options,
      BulkContext context) {
    this(
        new Shared(file),
        described,
        Map.of(ExactTypes.KEY, ExactTypes.of(description.query(), described).json()),
        options,
        context);
    if (!options.stream()) {
      file.write(MAGIC, 0, MAGIC.length);
      file.write(ZEROS, 0, ALIGNMENT - MAGIC.length);
    }
    message(messages.schema(fields, metadata));
  }

  private ArrowRowsOutput(
      Shared shared,
      List<LoadColumn> described,
      Map<String, String> metadata,
      ArrowOptions options,
      BulkContext context) {
    this.shared = shared;
    this.file = shared.file;
    this.described = described;
    this.metadata = metadata;
    this.options = options;
    this.context = context;
    for (LoadColumn column : described) {
      ArrowField field = field(column, options);
      fields.add(field);
      columns.add(ArrowColumn.of(field, options.infinity() == Infinity.NULL));
    }
  }

  @Override
  public RowsOutput another() {
    ArrowRowsOutput other = new ArrowRowsOutput(shared, described, metadata, options, context);
    shared.join();
    return other;
  }

  private static ArrowField field(LoadColumn column, ArrowOptions options) {
    int typeOid = column.labels().isEmpty() ? column.typeOid() : TypeOid.TEXT;
    ArrowField field =
        ArrowField.of(new Statement.Column(column.name(), typeOid, column.typeModifier()));
    boolean incomplete =
        switch (field.form()) {
          case DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, ARRAY -> true;
          case NUMERIC -> field.precision() > 0;
          default -> false;
        };
    boolean isText =
        options.textColumns().contains(column.name())
            || (incomplete && options.infinity() == Infinity.TEXT);
    return isText ? field.asText() : field;
  }

  @Override
  public void rows(MemorySegment batch) {
    view.wrap(batch, columns.size());
    int count = view.rowCount();
    reserve(pendingBytes + view.batchBytes());
    for (int from = 0; from < count; ) {
      int taken = Math.min(Math.min(count - from, SLICE_ROWS), options.batchRows() - pendingRows);
      append(from, from + taken);
      from += taken;
      pendingRows += taken;
      pendingBytes += view.batchBytes() / count * taken;
      if (pendingRows == options.batchRows() || pendingBytes >= BATCH_BYTES) {
        writeBatch();
      }
    }
    rows += count;
  }

  private void append(int from, int to) {
    for (int i = 0; i < columns.size(); i++) {
      try {
        columns.get(i).append(view, i, from, to);
      } catch (EngineException e) {
        throw e.withColumn(fields.get(i).name());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void reserve(long bytes) {
    long wanted = MEMORY_FACTOR * bytes;
    if (wanted > reserved) {
      context.reserveMemory(wanted - reserved);
      reserved = wanted;
    }
  }

  private void writeBatch() {
    context.checkCanceled();
    parts.clear();
    for (ArrowColumn column : columns) {
      column.collect(parts);
    }
    long bodyBytes = parts.bodyBytes();
    boolean compressed = options.codec() != Codec.NONE;
    if (compressed) {
      context.reserveMemory(bodyBytes);
      buffers.compress(options.codec(), parts);
    }
    ByteBuffer message =
        messages.recordBatch(pendingRows, parts, ArrowBuffers.typeOf(options.codec()), Map.of());
    synchronized (shared) {
      long at = shared.bytes();
      int metadataBytes = message(message);
      for (int i = 0; i < parts.bufferCount(); i++) {
        int length = parts.length(i);
        file.write(parts.buffer(i), 0, length);
        file.write(ZEROS, 0, padded(length) - length);
      }
      shared.batches.add(new BatchBlock(at, metadataBytes, parts.bodyBytes()));
    }
    if (compressed) {
      parts.clear();
      context.releaseMemory(bodyBytes);
    }
    columns.forEach(ArrowColumn::reset);
    pendingRows = 0;
    pendingBytes = 0;
  }

  /// Writes the message without its body.
  ///
  /// @return bytes
  private int message(ByteBuffer flat) {
    int length = flat.remaining();
    int padded = padded(length);
    byte[] bytes = new byte[PREFIX_BYTES + padded];
    INTS.set(bytes, 0, -1);
    INTS.set(bytes, Integer.BYTES, padded);
    flat.get(bytes, PREFIX_BYTES, length);
    file.write(bytes, 0, bytes.length);
    return bytes.length;
  }

  private static int padded(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  @Override
  public long rowCount() {
    return rows;
  }

  @Override
  public long estimatedBytes() {
    return shared.bytes() + pendingBytes;
  }

  @Override
  public void end() {
    if (pendingRows > 0) {
      writeBatch();
    }
    synchronized (shared) {
      shared.outputs--;
      if (shared.outputs == 0) {
        writeEnd();
      }
    }
  }

  private void writeEnd() {
    byte[] end = new byte[PREFIX_BYTES];
    INTS.set(end, 0, -1);
    file.write(end, 0, end.length);
    if (options.stream()) {
      return;
    }
    ByteBuffer footer = messages.footer(fields, metadata, shared.batches);
    int length = footer.remaining();
    byte[] bytes = new byte[length + Integer.BYTES + MAGIC.length];
    footer.get(bytes, 0, length);
    INTS.set(bytes, length, length);
    System.arraycopy(MAGIC, 0, bytes, length + Integer.BYTES, MAGIC.length);
    file.write(bytes, 0, bytes.length);
  }

  @Override
  public void close() {
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
