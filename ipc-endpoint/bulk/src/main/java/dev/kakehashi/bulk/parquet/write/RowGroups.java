package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.parquet.thrift.CompactWriter;
import dev.kakehashi.bulk.parquet.thrift.LogicalKind;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.engine.api.bulk.BulkContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The row groups of a file, which its outputs put there whole, one after the other. Thread-safe.
final class RowGroups {
  private static final String CREATED_BY = "kakehashi version 1.0.0";

  /// Before a row group is there, values are believed to shrink so much.
  private static final int ASSUMED_RATIO = 4;

  /// Repetition of the root.
  private static final int NO_REPETITION = -1;

  private record Group(List<WrittenChunk> chunks, long rows, long begin) {}

  // All below are guarded by this.
  private final FileOutput file;
  private final BulkContext context;
  private final Map<String, String> keyValues;
  private final List<Group> groups = new ArrayList<>();
  private int outputs = 1;
  private long reserved;
  private long rows;
  private long pagesBytes;
  private long valuesBytes;

  /// Begins the file, with one output.
  ///
  /// @param keyValues metadata of the file
  RowGroups(FileOutput file, Map<String, String> keyValues, BulkContext context) {
    this.file = file;
    this.keyValues = keyValues;
    this.context = context;
    file.write(ParquetOutput.MAGIC, 0, ParquetOutput.MAGIC.length);
  }

  /// There is one more output.
  synchronized void join() {
    outputs++;
  }

  /// Puts a row group into the file.
  ///
  /// @param pages of all chunks
  /// @param ofValues bytes that the values took in memory
  synchronized void add(ByteSpace pages, List<WrittenChunk> chunks, long rowCount, long ofValues) {
    long held = 0;
    for (WrittenChunk chunk : chunks) {
      held += chunk.heldBytes();
    }
    context.reserveMemory(held);
    reserved += held;
    groups.add(new Group(chunks, rowCount, file.position()));
    file.write(pages.bytes, 0, pages.length);
    rows += rowCount;
    pagesBytes += pages.length;
    valuesBytes += ofValues;
  }

  /// Bytes that the file would have with what an output holds.
  synchronized long estimatedBytes(long held) {
    long pending =
        valuesBytes == 0
            ? held / ASSUMED_RATIO
            : (long) (held * ((double) pagesBytes / valuesBytes));
    return file.position() + pending;
  }

  /// An output has put all it has. The last one ends the file.
  ///
  /// @param columns of the file
  synchronized void end(List<OutputColumn> columns) {
    outputs--;
    if (outputs > 0) {
      return;
    }
    List<long[]> columnIndexes = new ArrayList<>();
    for (Group group : groups) {
      long[] at = new long[group.chunks.size()];
      for (int i = 0; i < at.length; i++) {
        byte[] index = group.chunks.get(i).columnIndex();
        at[i] = index.length == 0 ? 0 : file.position();
        file.write(index, 0, index.length);
      }
      columnIndexes.add(at);
    }
    List<List<WrittenChunk.Indexes>> indexes = new ArrayList<>();
    for (int g = 0; g < groups.size(); g++) {
      Group group = groups.get(g);
      List<WrittenChunk.Indexes> ofGroup = new ArrayList<>();
      for (int i = 0; i < group.chunks.size(); i++) {
        byte[] index = group.chunks.get(i).places().index(group.begin);
        ofGroup.add(
            new WrittenChunk.Indexes(columnIndexes.get(g)[i], file.position(), index.length));
        file.write(index, 0, index.length);
      }
      indexes.add(ofGroup);
    }
    writeFooter(columns, indexes);
  }

  private void writeFooter(List<OutputColumn> columns, List<List<WrittenChunk.Indexes>> indexes) {
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
      writeGroupMeta(out, groups.get(i), indexes.get(i));
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
    file.write(ParquetOutput.MAGIC, 0, ParquetOutput.MAGIC.length);
  }

  private static void writeGroupMeta(
      CompactWriter out, Group group, List<WrittenChunk.Indexes> indexes) {
    long uncompressed = 0;
    long compressed = 0;
    for (WrittenChunk chunk : group.chunks) {
      uncompressed += chunk.uncompressedBytes();
      compressed += chunk.compressedBytes();
    }
    out.beginElement();
    out.structs(1, group.chunks.size());
    for (int i = 0; i < group.chunks.size(); i++) {
      group.chunks.get(i).write(out, group.begin, indexes.get(i));
    }
    out.i64(2, uncompressed);
    out.i64(3, group.rows);
    out.i64(5, group.begin + group.chunks.getFirst().firstPage());
    out.i64(6, compressed);
    out.end();
  }

  /// Gives back the memory of what is known of the row groups.
  synchronized void close() {
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
