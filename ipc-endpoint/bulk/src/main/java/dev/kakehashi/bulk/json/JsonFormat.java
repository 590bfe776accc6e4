package dev.kakehashi.bulk.json;

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

/// JSON. It is written, and not read.
public final class JsonFormat implements FileFormat {
  private final boolean array;
  private final Coding coding;

  /// @param array whether the rows have brackets around, and commas before
  public JsonFormat(boolean array, Coding coding) {
    this.array = array;
    this.coding = coding;
  }

  @Override
  public RowsFile read(
      FileInput file, List<LoadColumn> columns, boolean listed, BulkContext context) {
    throw notRead();
  }

  private static EngineException notRead() {
    return new EngineException(
        ErrorCode.INVALID_PARAMETER_VALUE, "COPY FORMAT JSON is not supported for COPY FROM");
  }

  @Override
  public RowsOutput write(
      FileOutput file, List<LoadColumn> columns, Description description, BulkContext context) {
    return new JsonObjectOutput(file, columns, array, coding);
  }

  /// One output alone knows which row is an array's first.
  @Override
  public boolean hasPieces() {
    return coding == Coding.IDENTITY && !array;
  }

  @Override
  public List<InspectedItem> inspect(FileInput file, BulkContext context) {
    throw notRead();
  }

  @Override
  public String suffix() {
    return switch (coding) {
      case IDENTITY -> ".json";
      case GZIP -> ".json.gz";
      case ZSTD -> ".json.zst";
    };
  }
}
