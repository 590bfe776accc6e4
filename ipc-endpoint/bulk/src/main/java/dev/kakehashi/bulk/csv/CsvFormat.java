package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;

/// CSV and PostgreSQL's text format.
public final class CsvFormat implements FileFormat {
  private final CsvOptions options;

  public CsvFormat(CsvOptions options) {
    this.options = options;
  }

  @Override
  public RowsFile read(
      FileInput file, List<LoadColumn> columns, boolean listed, BulkContext context) {
    checkNames(options.forceNotNull(), "FORCE_NOT_NULL", columns);
    checkNames(options.forceNull(), "FORCE_NULL", columns);
    return new CsvFile(file, options, columns, listed, CsvFile.PART_BYTES, context);
  }

  private static void checkNames(
      CsvOptions.Columns chosen, String option, List<LoadColumn> columns) {
    for (String name : chosen.names()) {
      if (columns.stream().noneMatch(column -> column.name().equals(name))) {
        throw new EngineException(
            ErrorCode.INVALID_COLUMN_REFERENCE,
            "%s column \"%s\" not referenced by COPY".formatted(option, name));
      }
    }
  }

  @Override
  public RowsOutput write(
      FileOutput file, List<LoadColumn> columns, Description description, BulkContext context) {
    checkNames(options.forceQuote(), "FORCE_QUOTE", columns);
    return new CsvOutput(file, options, columns);
  }

  @Override
  public boolean hasPieces() {
    return options.compression().coding() == Coding.IDENTITY;
  }

  @Override
  public List<InspectedItem> inspect(FileInput file, BulkContext context) {
    return new CsvInspection(file, options, context).items();
  }

  @Override
  public String suffix() {
    return (options.isCsv() ? ".csv" : ".txt")
        + switch (options.compression()) {
          case GZIP -> ".gz";
          case ZSTD -> ".zst";
          case NONE, AUTO -> "";
        };
  }
}
