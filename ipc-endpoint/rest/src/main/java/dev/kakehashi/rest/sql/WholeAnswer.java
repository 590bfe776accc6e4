package dev.kakehashi.rest.sql;

import dev.kakehashi.formats.RowEncoder;

/// Writes an answer that is known whole before its first byte is sent, because its rows say the status.
public interface WholeAnswer extends RowEncoder {
  /// Status of the answer; after [#rows].
  ///
  /// @param usual without what the rows say
  int status(int usual);
}
