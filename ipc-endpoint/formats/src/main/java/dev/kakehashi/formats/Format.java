package dev.kakehashi.formats;

/// How rows are written.
public enum Format {
  /// One document: columns, rows, their number.
  JSON("application/json"),
  /// One JSON text a line, the last of which says how it has ended.
  NDJSON("application/x-ndjson"),
  /// Output of PostgreSQL's `COPY … TO … (FORMAT csv)` with `DateStyle` ISO and time zone UTC.
  CSV("text/csv"),
  /// Arrow's IPC stream.
  ARROW("application/vnd.apache.arrow.stream"),
  /// Row batches as shared memory has them, see [RowStreamEncoder]: exact values for clients of the project's own.
  ROWS("application/vnd.kakehashi.rows");

  private final String mediaType;

  Format(String mediaType) {
    this.mediaType = mediaType;
  }

  /// Without parameters.
  public String mediaType() {
    return mediaType;
  }
}
