package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.parquet.page.PageDecompressor;
import dev.kakehashi.bulk.parquet.thrift.ChunkMeta;
import dev.kakehashi.bulk.parquet.thrift.FileMeta.GroupMeta;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileValues;
import dev.kakehashi.bulk.value.RowsFill;
import dev.kakehashi.bulk.value.ValueOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of a row group: some thousand are decoded column by column, then made into row batches.
///
/// Memory: a page of each column that is loaded, its dictionary, and the longest compressed page.
final class ParquetPart implements RowsPart {
  private static final int DECODED_ROWS = 4096;

  /// Bytes of memory for a row of a column: a long, a start and a length, whether it is there.
  private static final int ROW_BYTES = 24;

  private final FileInput file;
  private final GroupMeta group;
  private final List<FileColumn> columns;
  private final BulkContext context;
  private final long groupRows;
  private final List<ColumnReader> readers = new ArrayList<>();
  private final List<FileValues> values = new ArrayList<>();
  private final ReadSpace compressed;
  private final RowsFill fill;
  private long reserved;
  private int decoded;
  private int taken;
  private long rows;

  private ParquetPart(
      FileInput file,
      GroupMeta group,
      List<FileColumn> columns,
      List<LoadColumn> targets,
      ValueOptions options,
      BulkContext context) {
    this.file = file;
    this.group = group;
    this.columns = columns;
    this.context = context;
    this.groupRows = group.rows();
    this.compressed = new ReadSpace(context);
    List<FileType> types = columns.stream().map(FileColumn::knownType).toList();
    this.fill = new RowsFill(types, targets, options, context);
    this.reserved = (long) DECODED_ROWS * ROW_BYTES * columns.size();
  }

  /// Begins a row group.
  ///
  /// @param columns of the file that are loaded
  /// @param targets that they go into
  static ParquetPart open(
      FileInput file,
      GroupMeta group,
      List<FileColumn> columns,
      List<LoadColumn> targets,
      ValueOptions options,
      BulkContext context) {
    ParquetPart part = new ParquetPart(file, group, columns, targets, options, context);
    context.reserveMemory(part.reserved);
    try {
      part.openReaders();
      return part;
    } catch (RuntimeException e) {
      part.close();
      throw e;
    }
  }

  private void openReaders() {
    PageDecompressor decompressor = new PageDecompressor();
    for (FileColumn column : columns) {
      readers.add(reader(column, decompressor));
      values.add(new FileValues(column.knownType()));
    }
  }

  private void closeReaders() {
    readers.forEach(ColumnReader::close);
    readers.clear();
    values.clear();
  }

  private ColumnReader reader(FileColumn column, PageDecompressor decompressor) {
    List<ColumnReader> members = new ArrayList<>();
    for (int i = 0; i < column.leaves().size(); i++) {
      ChunkMeta chunk = group.chunks().get(column.firstLeaf() + i);
      FileType type = column.leaves().size() > 1 ? FileType.integer(64, true) : column.valueType();
      if (!column.isList() && chunk.values() != group.rows()) {
        throw Damage.of("column \"" + column.name() + "\" has not as many values as rows");
      }
      LeafPages pages =
          new LeafPages(
              new PageSource(file, chunk, context, decompressor, compressed),
              column.leaves().get(i),
              type,
              column.maxDefinition(),
              column.isList(),
              chunk.values(),
              context);
      members.add(
          column.isList()
              ? new ListReader(pages, column.maxDefinition(), column.listDefinition(), context)
              : new FlatReader(pages));
    }
    return members.size() > 1
        ? new IntervalReader(members, column.isList(), context)
        : members.getFirst();
  }

  @Override
  public @Nullable MemorySegment next(BadRows badRows) {
    while (true) {
      if (taken == decoded) {
        if (rows == groupRows) {
          return null;
        }
        decode();
      }
      int first = taken;
      MemorySegment batch = fill.next(values, first, decoded - first, rows, badRows);
      taken += fill.taken();
      rows += fill.taken();
      if (batch != null) {
        return batch;
      }
    }
  }

  private void decode() {
    context.checkCanceled();
    int count = (int) Math.min(DECODED_ROWS, groupRows - rows);
    for (ColumnReader reader : readers) {
      count = reader.ready(count);
    }
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).read(count, values.get(i));
    }
    decoded = count;
    taken = 0;
  }

  @Override
  public void rewind() {
    closeReaders();
    decoded = 0;
    taken = 0;
    rows = 0;
    openReaders();
  }

  @Override
  public RowOrigin origin(int row) {
    return fill.origin(row);
  }

  @Override
  public long rows() {
    return rows;
  }

  @Override
  public long readBytes() {
    long read = 0;
    for (ColumnReader reader : readers) {
      read += reader.readBytes();
    }
    return read;
  }

  @Override
  public void close() {
    closeReaders();
    compressed.close();
    fill.close();
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
