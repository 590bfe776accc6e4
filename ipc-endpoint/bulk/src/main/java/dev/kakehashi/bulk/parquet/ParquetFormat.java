package dev.kakehashi.bulk.parquet;

import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.read.ParquetInspection;
import dev.kakehashi.bulk.parquet.read.ParquetRows;
import dev.kakehashi.bulk.parquet.write.ParquetOutput;
import dev.kakehashi.bulk.value.ExactTypes;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// Parquet files. Immutable.
///
/// | type | Parquet |
/// |---|---|
/// | bool, float4, float8 | BOOLEAN, FLOAT, DOUBLE |
/// | int2, int4, int8, date | INT32, INT32, INT64, INT32 with their logical types |
/// | time, timestamp, timestamptz | INT64 of microseconds, UTC only for timestamptz |
/// | numeric(p,s) of up to 9, 18, 38, 76 digits | INT32, INT64, 16 bytes, 32 bytes |
/// | other numeric, timetz, text types | BYTE_ARRAY as STRING |
/// | enums; json, jsonb; bytea | BYTE_ARRAY as ENUM; as JSON; plain |
/// | uuid | 16 bytes as UUID |
/// | interval | a structure of months, days, micros |
/// | arrays of one dimension | LIST |
public final class ParquetFormat implements FileFormat {
  private final ParquetOptions options;

  public ParquetFormat(ParquetOptions options) {
    this.options = options;
  }

  @Override
  public RowsFile read(
      FileInput file, List<LoadColumn> columns, boolean listed, BulkContext context) {
    return read(file, columns, listed, List.of(), context);
  }

  @Override
  public RowsFile read(
      FileInput file,
      List<LoadColumn> columns,
      boolean listed,
      List<LoadCondition> conditions,
      BulkContext context) {
    return ParquetRows.open(file, columns, listed, conditions, options, context);
  }

  @Override
  public RowsOutput write(
      FileOutput file, List<LoadColumn> columns, Description description, BulkContext context) {
    Set<String> names = columns.stream().map(LoadColumn::name).collect(Collectors.toSet());
    checkNames(options.columnCodecs().keySet(), names);
    checkNames(options.textColumns(), names);
    return new ParquetOutput(
        file,
        columns,
        options,
        Map.of(ExactTypes.KEY, ExactTypes.of(description.query(), columns).json()),
        context);
  }

  @Override
  public boolean hasPieces() {
    return true;
  }

  /// Options must not name columns that there are not.
  private static void checkNames(Set<String> chosen, Set<String> names) {
    for (String name : chosen) {
      if (!names.contains(name)) {
        throw new EngineException(
                ErrorCode.UNDEFINED_COLUMN,
                "column \"" + name + "\" of an option is not among those that are written")
            .withColumn(name);
      }
    }
  }

  @Override
  public List<InspectedItem> inspect(FileInput file, BulkContext context) {
    return ParquetInspection.of(file, context);
  }

  @Override
  public String suffix() {
    return ".parquet";
  }
}
