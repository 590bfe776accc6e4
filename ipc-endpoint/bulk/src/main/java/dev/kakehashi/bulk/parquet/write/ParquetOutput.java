package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// A Parquet file that is written: rows are kept until they make a row group. Several outputs write one file, each row groups of its own.
/// An output is not thread-safe.
///
/// Memory is that of a row group, at most about twice MAX_HELD_BYTES and a batch, its pages, and some hundred bytes for each chunk that is
/// written.
public final class ParquetOutput implements RowsOutput {
  /// Begin and end of a file.
  public static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);

  /// A row group ends with so many bytes of values at the latest.
  private static final long MAX_HELD_BYTES = 32L << 20;

  /// Rows that are taken column by column: so few stay in the processor's cache.
  private static final int SLICE_ROWS = 256;

  private final RowGroups file;
  private final List<LoadColumn> described;
  private final ParquetOptions options;
  private final BulkContext context;
  private final List<OutputColumn> columns = new ArrayList<>();
  private final ChunkWriter writer;
  private final BatchView view = new BatchView();
  private int pendingRows;
  private long rows;

  /// @param keyValues metadata of the file
  public ParquetOutput(
      FileOutput file,
      List<LoadColumn> columns,
      ParquetOptions options,
      Map<String, String> keyValues,
      BulkContext context) {
    this(new RowGroups(file, keyValues, context), columns, options, context);
  }

  private ParquetOutput(
      RowGroups file, List<LoadColumn> columns, ParquetOptions options, BulkContext context) {
    this.file = file;
    this.described = columns;
    this.options = options;
    this.context = context;
    if (columns.isEmpty()) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "a Parquet file has at least one column");
    }
    columns.forEach(column -> this.columns.add(new OutputColumn(column, options, context)));
    this.writer = new ChunkWriter(context);
  }

  @Override
  public RowsOutput another() {
    ParquetOutput other = new ParquetOutput(file, described, options, context);
    file.join();
    return other;
  }

  @Override
  public void rows(MemorySegment batch) {
    context.checkCanceled();
    view.wrap(batch, columns.size());
    int count = view.rowCount();
    for (int from = 0; from < count; ) {
      int taken =
          Math.min(Math.min(SLICE_ROWS, count - from), options.rowGroupRows() - pendingRows);
      for (int i = 0; i < columns.size(); i++) {
        columns.get(i).append(view, i, from, from + taken);
      }
      from += taken;
      pendingRows += taken;
      rows += taken;
      if (pendingRows == options.rowGroupRows() || heldBytes() >= MAX_HELD_BYTES) {
        writeGroup();
      }
    }
  }

  private long heldBytes() {
    long held = 0;
    for (OutputColumn column : columns) {
      held += column.heldBytes();
    }
    return held;
  }

  private void writeGroup() {
    long held = heldBytes();
    List<WrittenChunk> chunks = new ArrayList<>();
    for (OutputColumn column : columns) {
      column.write(writer, options, chunks);
    }
    file.add(writer.out(), chunks, pendingRows, held);
    writer.out().length = 0;
    pendingRows = 0;
  }

  @Override
  public long rowCount() {
    return rows;
  }

  @Override
  public long estimatedBytes() {
    return file.estimatedBytes(heldBytes());
  }

  @Override
  public void end() {
    if (pendingRows > 0) {
      writeGroup();
    }
    file.end(columns);
  }

  @Override
  public void close() {
    columns.forEach(OutputColumn::close);
    writer.close();
    file.close();
  }
}
