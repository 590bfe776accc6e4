package dev.kakehashi.client;

import java.util.ArrayList;
import java.util.List;

/// A file that a dump has written.
///
/// @param file as a location of the endpoint
/// @param digest SHA-256 of its bytes, hexadecimal
public record DumpOutcome(String file, long rows, long bytes, String digest) {
  static List<DumpOutcome> of(Rows rows) {
    List<DumpOutcome> files = new ArrayList<>();
    while (rows.next()) {
      files.add(
          new DumpOutcome(rows.getString(0), rows.getLong(1), rows.getLong(2), rows.getString(3)));
    }
    return files;
  }
}
