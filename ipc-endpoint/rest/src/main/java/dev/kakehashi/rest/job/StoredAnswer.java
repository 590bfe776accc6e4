package dev.kakehashi.rest.job;

import java.util.List;

/// An answer that is small enough to be kept with its job or key and given again. The body is not copied: nobody changes it.
///
/// @param status of HTTP
/// @param headers that belong to the answer besides its content type
/// @param mediaType of the body; empty: no body
public record StoredAnswer(int status, List<Header> headers, String mediaType, byte[] body) {
  /// Longest body that is kept so. A longer one is a file.
  public static final int MAX_BODY_BYTES = 4096;

  /// Most headers, and characters of each.
  static final int MAX_HEADERS = 16;

  static final int MAX_HEADER_CHARACTERS = 1024;

  public record Header(String name, String value) {}

  public StoredAnswer {
    headers = List.copyOf(headers);
    if (body.length > MAX_BODY_BYTES || headers.size() > MAX_HEADERS) {
      throw new IllegalArgumentException(
          "an answer of %d bytes and %d headers is too long to be kept"
              .formatted(body.length, headers.size()));
    }
    for (Header header : headers) {
      if (header.value().length() > MAX_HEADER_CHARACTERS) {
        throw new IllegalArgumentException("header " + header.name() + " is too long to be kept");
      }
    }
  }

  /// Bytes that it takes in memory, about.
  int size() {
    int size = 128 + body.length;
    for (Header header : headers) {
      size += 96 + header.name().length() + header.value().length();
    }
    return size;
  }
}
