package dev.kakehashi.formats;

import dev.kakehashi.engine.api.Statement;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Writes the rows of one result in one format.
///
/// Call protocol: [#begin], [#rows] any number of times, then [#end] or [#fail], once. Written bytes wait in a buffer of the encoder (64
/// KiB; with Arrow one record batch) until that is full, or [#flush()] is called. The stream's back-pressure is the encoder's: a write may
/// block.
///
/// | ends with | after `end` | after `fail` |
/// |---|---|---|
/// | JSON | a whole document | a document that is cut off: no reader takes it for whole |
/// | NDJSON | `{"end":{"rowCount":n}}` | `{"error":problem}` |
/// | CSV | its last row | its last row: whoever sends it has to break what frames it, and say the number of rows after an `end` |
/// | Arrow | the end of stream marker | a record batch without rows whose message has `kakehashi.error` in its custom metadata, then the beginning of a message that never comes |
/// | rows | a frame with the number of rows | a frame with the problem |
///
/// Not thread-safe. The stream stays the caller's, who closes it; an encoder holds nothing but memory.
public interface RowEncoder {
  /// Encoder of one result.
  static RowEncoder of(Format format, FormatOptions options) {
    return switch (format) {
      case JSON -> new JsonEncoder(options, JsonEncoder.Layout.DOCUMENT);
      case NDJSON -> new JsonEncoder(options, JsonEncoder.Layout.LINES);
      case CSV -> new CsvEncoder(options);
      case ARROW -> new ArrowEncoder(options);
      case ROWS -> new RowStreamEncoder();
    };
  }

  /// Encoder of rows as PostgreSQL's `COPY … TO … (FORMAT json)` writes them. An `end` adds the closing bracket, a `fail` nothing.
  ///
  /// @param array whether they have brackets around, and commas before
  static RowEncoder ofCopy(boolean array) {
    return new JsonEncoder(
        FormatOptions.of(Format.NDJSON).withJsonNumbers(true),
        array ? JsonEncoder.Layout.COPY_ARRAY : JsonEncoder.Layout.COPY_LINES);
  }

  /// Writes what comes before the first row.
  ///
  /// @param columns of the result, at least 0
  /// @throws dev.kakehashi.engine.api.error.EngineException FEATURE_NOT_SUPPORTED for a type that the format has no form for,
  ///     DUPLICATE_COLUMN if rows are objects and two columns have one name; nothing is written then
  void begin(List<Statement.Column> columns, OutputStream out) throws IOException;

  /// Writes rows.
  ///
  /// @param batch a row batch (PROTOCOL.md §6) of the columns; it is not needed afterwards
  /// @throws dev.kakehashi.protocol.MalformedFrameException when it is none
  /// @throws dev.kakehashi.engine.api.error.EngineException for a value that the format cannot hold, as an infinite timestamp in Arrow
  void rows(MemorySegment batch) throws IOException;

  /// Lets all that was written reach the stream, and flushes it.
  void flush() throws IOException;

  /// Writes what comes after the last row, and flushes.
  ///
  /// @param rowCount as the statement has reported it: rows sent, or changed
  void end(long rowCount) throws IOException;

  /// Writes why the rest is missing, where the format has a place for it, and flushes.
  ///
  /// @param problem a JSON object in UTF-8, on one line
  void fail(byte[] problem) throws IOException;

  /// Bytes that have left the encoder.
  long byteCount();
}
