package dev.kakehashi.protocol.file;

/// Purpose of a file of records, which its header names. Immutable.
///
/// @param letters four ASCII characters
/// @param version of the content of the records, 1 to 32,767; newer ones are refused by a reader
/// @param maxRecordBytes longest record, up to 1 GB
/// @param title the file as messages name it, as "journal of jobs"
public record RecordKind(String letters, int version, int maxRecordBytes, String title) {
  private static final int MOST_BYTES = 1 << 30;

  public RecordKind {
    if (letters.length() != 4
        || letters.chars().anyMatch(c -> c <= ' ' || c > '~')
        || version < 1
        || version > Short.MAX_VALUE
        || maxRecordBytes < 0
        || maxRecordBytes > MOST_BYTES) {
      throw new IllegalArgumentException("kind of records \"" + letters + "\"");
    }
  }

  /// Refuses a record that no reader would take.
  ///
  /// @throws IllegalArgumentException it is too long
  public void requireFits(byte[] record) {
    if (record.length > maxRecordBytes) {
      throw new IllegalArgumentException(
          "%s: a record of %d bytes exceeds %d".formatted(title, record.length, maxRecordBytes));
    }
  }
}
