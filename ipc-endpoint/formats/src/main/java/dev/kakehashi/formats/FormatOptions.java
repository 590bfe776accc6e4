package dev.kakehashi.formats;

/// Choices within a format. Immutable.
///
/// @param objects JSON and NDJSON: a row is an object by column names; otherwise an array
/// @param jsonNumbers JSON and NDJSON: int8 and numeric are numbers; otherwise strings, because JavaScript cannot hold all of them
/// @param header CSV: the first line has the column names
/// @param recordBatchBytes Arrow: a record batch is sent when it has about so many bytes, at least 4096
public record FormatOptions(
    boolean objects, boolean jsonNumbers, boolean header, int recordBatchBytes) {
  private static final int RECORD_BATCH_BYTES = 1 << 20;

  /// Shortest limit of a record batch.
  public static final int MIN_RECORD_BATCH_BYTES = 1 << 12;

  /// @throws IllegalArgumentException for a record batch that is too short
  public FormatOptions {
    if (recordBatchBytes < MIN_RECORD_BATCH_BYTES) {
      throw new IllegalArgumentException("record batches of " + recordBatchBytes + " bytes");
    }
  }

  /// Defaults: rows of JSON are arrays, lines of NDJSON objects, CSV has a header.
  public static FormatOptions of(Format format) {
    return new FormatOptions(format == Format.NDJSON, false, true, RECORD_BATCH_BYTES);
  }

  public FormatOptions withObjects(boolean chosen) {
    return new FormatOptions(chosen, jsonNumbers, header, recordBatchBytes);
  }

  public FormatOptions withJsonNumbers(boolean chosen) {
    return new FormatOptions(objects, chosen, header, recordBatchBytes);
  }

  public FormatOptions withHeader(boolean chosen) {
    return new FormatOptions(objects, jsonNumbers, chosen, recordBatchBytes);
  }

  public FormatOptions withRecordBatchBytes(int chosen) {
    return new FormatOptions(objects, jsonNumbers, header, chosen);
  }
}
