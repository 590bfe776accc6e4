package dev.kakehashi.bulk.format;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import java.util.List;

/// A format of files. Immutable: what options say of it was checked when it was made.
public interface FileFormat {
  /// Reads what says which columns a file has.
  ///
  /// @param columns that rows may be loaded into
  /// @param listed whether they are a column list: then each has to be there
  /// @throws dev.kakehashi.engine.api.error.EngineException BAD_COPY_FILE_FORMAT (22P04), DATATYPE_MISMATCH, UNDEFINED_COLUMN, ...
  RowsFile read(FileInput file, List<LoadColumn> columns, boolean listed, BulkContext context);

  /// The same, where rows may be left out that do not fulfil all conditions.
  default RowsFile read(
      FileInput file,
      List<LoadColumn> columns,
      boolean listed,
      List<LoadCondition> conditions,
      BulkContext context) {
    return read(file, columns, listed, context);
  }

  /// Begins a file.
  ///
  /// @param description of the whole result, for the file's metadata
  /// @throws dev.kakehashi.engine.api.error.EngineException FEATURE_NOT_SUPPORTED for a type that it cannot hold exactly
  RowsOutput write(
      FileOutput file, List<LoadColumn> columns, Description description, BulkContext context);

  /// Whether several outputs may write one file: [RowsOutput#another()].
  default boolean hasPieces() {
    return false;
  }

  /// Contents of a file, without those lines that are made of the columns (`create table`, `copy`).
  List<InspectedItem> inspect(FileInput file, BulkContext context);

  /// Ending of its files' names, as `.csv.gz`.
  String suffix();

  /// Description of a file's contents.
  ///
  /// @param query that was dumped
  record Description(String query) {}
}
