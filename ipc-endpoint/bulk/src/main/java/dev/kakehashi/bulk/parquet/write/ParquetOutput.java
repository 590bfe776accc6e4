package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.parquet.ParquetOptions;
import dev.kakehashi.bulk.parquet.thrift.CompactWriter;
import dev.kakehashi.bulk.parquet.thrift.LogicalKind;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// A Parquet file that is written: rows are kept until they make a row group. Not thread-safe.
///
/// Memory is that of a row group, at most about twice MAX_HELD_BYTES and a batch, and some hundred bytes for each chunk that is written.
public final class ParquetOutput implements RowsOutput {
  /// Begin and end of a file.
  public static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);

  private static final String CREATED_BY = "kakehashi version 1.0.0";

  /// A row group ends with so many bytes of values at the latest.
  private static final long MAX_HELD_BYTES = 48L << 20;

  /// Rows that are taken column by column: so few stay in the processor's cache.
  private static final int SLICE_ROWS = 256;

  /// Before a row group is there, values are believed to shrink so much.
  private static final int ASSUMED_RATIO = 4;

  /// Of the root.
  private static final int NO_REPETITION = -1;

  private record Group(List<WrittenChunk> chunks, long rows) {}

  private final FileOutput file;
  private final ParquetOptions options;
  private final BulkContext context;
  private final Map<String, String> keyValues;
  private final List<OutputColumn> columns = new ArrayList<>();
  private final ChunkWriter writer;
  private final BatchView view = new BatchView();
  private final List<Group> groups = new ArrayList<>();
  private long reserved;
  private int pendingRows;
  private long rows;
  private long pagesBytes;
  private long valuesBytes;

  /// @param keyValues metadata of the file
  public ParquetOutput(
      FileOutput file,
      List<LoadColumn> columns,
      ParquetOptions options,
      Map<String, String> keyValues,
      BulkContext context) {
    this.file = file;
    this.options = options;
    this.keyValues = keyValues;
    this.context = context;
    if (columns.isEmpty()) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "a Parquet file has at least one column");
    }
    columns.forEach(column -> this.columns.add(new OutputColumn(column, options, context)));
    this.writer = new ChunkWriter(file, context);
    file.write(MAGIC, 0, MAGIC.length);
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
    valuesBytes += heldBytes();
    long before = file.position();
    List<WrittenChunk> chunks = new ArrayList<>();
    for (OutputColumn column : columns) {
      column.write(writer, options, chunks);
    }
    pagesBytes += file.position() - before;
    long held = 0;
    for (WrittenChunk chunk : chunks) {
      held += chunk.heldBytes();
    }
    context.reserveMemory(held);
    reserved += held;
    groups.add(new Group(chunks, pendingRows));
    pendingRows = 0;
  }

  @Override
  public long rowCount() {
    return rows;
  }

  @Override
  public long estimatedBytes() {
    long held = heldBytes();
    long pending =
        valuesBytes == 0
            ? held / ASSUMED_RATIO
            : (long) (held * ((double) pagesBytes / valuesBytes));
    return file.position() + pending;
  }

  @Override
  public void end() {
    if (pendingRows > 0) {
      writeGroup();
    }
    List<long[]> columnIndexes = new ArrayList<>();
    List<long[]> offsetIndexes = new ArrayList<>();
    for (Group group : groups) {
      long[] at = new long[group.chunks.size()];
      for (int i = 0; i < at.length; i++) {
        byte[] index = group.chunks.get(i).columnIndex();
        at[i] = index.length == 0 ? 0 : file.position();
        file.write(index, 0, index.length);
      }
      columnIndexes.add(at);
    }
    for (Group group : groups) {
      long[] at = new long[group.chunks.size()];
      for (int i = 0; i < at.length; i++) {
        byte[] index = group.chunks.get(i).offsetIndex();
        at[i] = file.position();
        file.write(index, 0, index.length);
      }
      offsetIndexes.add(at);
    }
    writeFooter(columnIndexes, offsetIndexes);
  }

  private void writeFooter(List<long[]> columnIndexes, List<long[]> offsetIndexes) {
    List<SchemaNode> nodes = new ArrayList<>();
    columns.forEach(column -> column.addNodes(nodes));
    CompactWriter out = new CompactWriter();
    out.beginElement();
    out.i32(1, 1);
    out.structs(2, nodes.size() + 1);
    SchemaNode.group("schema", NO_REPETITION, columns.size(), LogicalKind.NONE).write(out);
    nodes.forEach(node -> node.write(out));
    out.i64(3, rows);
    out.structs(4, groups.size());
    for (int i = 0; i < groups.size(); i++) {
      writeGroupMeta(out, groups.get(i), columnIndexes.get(i), offsetIndexes.get(i));
    }
    out.structs(5, keyValues.size());
    keyValues.forEach((key, value) -> {
      out.beginElement();
      out.string(1, key);
      out.string(2, value);
      out.end();
    });
    out.string(6, CREATED_BY);
    int leaves = (int) nodes.stream().filter(node -> !node.isGroup()).count();
    out.structs(7, leaves);
    for (int i = 0; i < leaves; i++) {
      out.beginElement();
      out.empty(1);
      out.end();
    }
    out.end();
    file.write(out.bytes(), 0, out.length());
    byte[] length = new byte[Integer.BYTES];
    ByteSpace.INTS.set(length, 0, out.length());
    file.write(length, 0, length.length);
    file.write(MAGIC, 0, MAGIC.length);
  }

  private static void writeGroupMeta(
      CompactWriter out, Group group, long[] columnIndexes, long[] offsetIndexes) {
    long uncompressed = 0;
    long compressed = 0;
    for (WrittenChunk chunk : group.chunks) {
      uncompressed += chunk.uncompressedBytes();
      compressed += chunk.compressedBytes();
    }
    WrittenChunk first = group.chunks.getFirst();
    out.beginElement();
    out.structs(1, group.chunks.size());
    for (int i = 0; i < group.chunks.size(); i++) {
      group.chunks.get(i).write(out, columnIndexes[i], offsetIndexes[i]);
    }
    out.i64(2, uncompressed);
    out.i64(3, group.rows);
    out.i64(5, first.dictionaryPage() > 0 ? first.dictionaryPage() : first.dataPage());
    out.i64(6, compressed);
    out.end();
  }

  @Override
  public void close() {
    columns.forEach(OutputColumn::close);
    writer.close();
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
