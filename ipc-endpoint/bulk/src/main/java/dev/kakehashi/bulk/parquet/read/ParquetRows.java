package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.thrift.FileMeta.GroupMeta;
import dev.kakehashi.bulk.value.ColumnMatch;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.RowsFill;
import dev.kakehashi.bulk.value.ValueOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Rows of a Parquet file: a part is a row group. Only columns that are loaded are read. Thread-safe.
public final class ParquetRows implements RowsFile {
  private final FileInput file;
  private final BulkContext context;
  private final List<GroupMeta> groups;
  private final List<FileColumn> sources;
  private final int[] columns;
  private final List<LoadColumn> targets;
  private final ValueOptions options;
  private long reserved;
  private final AtomicInteger next = new AtomicInteger();
  private final GroupFilter filter;

  private ParquetRows(
      FileInput file,
      FooterReader.Footer footer,
      List<FileColumn> sources,
      int[] columns,
      List<LoadColumn> targets,
      ValueOptions options,
      GroupFilter filter,
      BulkContext context) {
    this.file = file;
    this.context = context;
    this.groups = footer.meta().groups().stream().filter(group -> group.rows() > 0).toList();
    this.sources = sources;
    this.columns = columns;
    this.targets = targets;
    this.options = options;
    this.filter = filter;
    this.reserved = (long) FooterReader.BYTES_PER_BYTE * footer.footerBytes();
  }

  /// Opens a file.
  ///
  /// @param listed whether each of the columns has to be there
  /// @param conditions of rows: groups without such rows are not read
  public static ParquetRows open(
      FileInput file,
      List<LoadColumn> columns,
      boolean listed,
      List<LoadCondition> conditions,
      ParquetOptions options,
      BulkContext context) {
    FooterReader.Footer footer = FooterReader.read(file, context);
    try {
      List<FileColumn> inFile = footer.schema().columns();
      ColumnMatch match =
          ColumnMatch.of(
              file.name(),
              inFile.stream().map(FileColumn::name).toList(),
              columns,
              listed,
              options.byPosition(),
              options.refusesExtra());
      List<FileColumn> sources = match.sources().stream().map(inFile::get).toList();
      sources.forEach(ParquetRows::checkReadable);
      List<LoadColumn> targets = match.targets().stream().map(columns::get).toList();
      ValueOptions values = new ValueOptions(options.truncates());
      List<FileType> types = sources.stream().map(FileColumn::knownType).toList();
      // Types that do not go together are refused before the first row.
      new RowsFill(types, targets, values, context).close();
      GroupFilter filter =
          new GroupFilter(
              conditions, match.targetArray(), sources, targets, footer.meta().typeOrders());
      return new ParquetRows(
          file, footer, sources, match.targetArray(), targets, values, filter, context);
    } catch (RuntimeException e) {
      context.releaseMemory((long) FooterReader.BYTES_PER_BYTE * footer.footerBytes());
      throw e;
    }
  }

  private static void checkReadable(FileColumn column) {
    if (column.type() == null) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "column \"%s\" of the Parquet file is %s, which is not read"
                  .formatted(column.name(), column.unsupported()))
          .withColumn(column.name())
          .withHint("Leave it out by a list of the other columns.");
    }
  }

  @Override
  public int[] columns() {
    return columns.clone();
  }

  @Override
  public @Nullable RowsPart next() {
    int group = next.getAndUpdate(each -> Math.min(each + 1, groups.size()));
    if (group == groups.size()) {
      return null;
    }
    GroupMeta meta = groups.get(group);
    return filter.excludes(meta)
        ? new ExcludedPart(meta.rows())
        : ParquetPart.open(file, meta, sources, targets, options, context);
  }

  @Override
  public void close() {
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
