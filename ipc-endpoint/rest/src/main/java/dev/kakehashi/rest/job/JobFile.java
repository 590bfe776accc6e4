package dev.kakehashi.rest.job;

import java.util.HexFormat;

/// A file of a result, which never changes.
///
/// @param id names the file in the directory of results; nobody outside sees it
/// @param name proposed to whoever saves it, as `result-1.csv`
/// @param mediaType as `text/csv`
/// @param coding of the content, as `gzip`; empty: none
/// @param rows in it; -1: it has something else
/// @param bytes of the file, coded
/// @param sha256 of these bytes, 64 hexadecimal digits
public record JobFile(
    long id, String name, String mediaType, String coding, long rows, long bytes, String sha256) {

  /// 32 bytes.
  public byte[] digest() {
    return HexFormat.of().parseHex(sha256);
  }
}
