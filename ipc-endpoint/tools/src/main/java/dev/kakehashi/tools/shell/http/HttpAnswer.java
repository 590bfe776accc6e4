package dev.kakehashi.tools.shell.http;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// An answer of HTTP/1.1. Its body has to be read to its end, or the connection closed. Not thread-safe.
final class HttpAnswer {
  /// Longest head, and longest fields behind a body.
  private static final int MOST_HEAD_BYTES = 1 << 16;

  private static final int MOST_LINE_BYTES = 1 << 14;

  private final InputStream in;
  private final Map<String, String> fields = new HashMap<>();
  private final int status;
  private final AnswerBody body;
  private int headBytes;

  /// Reads the head.
  ///
  /// @throws EOFException there is none
  HttpAnswer(InputStream in) throws IOException {
    this.in = in;
    int found;
    do {
      found = status(line());
      fields.clear();
      readFields();
      // An answer that announces another one.
    } while (found / 100 == 1);
    this.status = found;
    this.body = new AnswerBody(this, in, length(found));
    this.headBytes = 0;
  }

  private static int status(String line) throws IOException {
    String[] words = line.split(" ", 3);
    if (words.length < 2 || !words[0].startsWith("HTTP/1.") || !words[1].matches("[1-5][0-9]{2}")) {
      throw new IOException("the answer is none of HTTP/1.1");
    }
    return Integer.parseInt(words[1]);
  }

  private long length(int found) throws IOException {
    if (found == 204 || found == 304) {
      return 0;
    }
    if (field("transfer-encoding").equalsIgnoreCase("chunked")) {
      return -1;
    }
    String length = field("content-length");
    if (!length.matches("[0-9]{1,18}")) {
      throw new IOException("the answer has no length");
    }
    return Long.parseLong(length);
  }

  /// A line without its end.
  String line() throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      int c = in.read();
      if (c < 0) {
        throw new EOFException("the connection was closed");
      }
      if (c == '\n') {
        break;
      }
      if (line.length() == MOST_LINE_BYTES) {
        throw new IOException("a line of the answer is too long");
      }
      line.append((char) c);
    }
    if (!line.isEmpty() && line.charAt(line.length() - 1) == '\r') {
      line.setLength(line.length() - 1);
    }
    return line.toString();
  }

  /// Reads fields up to an empty line.
  void readFields() throws IOException {
    for (String line = line(); !line.isEmpty(); line = line()) {
      headBytes += line.length();
      int colon = line.indexOf(':');
      if (colon <= 0 || headBytes > MOST_HEAD_BYTES) {
        throw new IOException("the fields of the answer are broken or too long");
      }
      // Bytes beyond ASCII are UTF-8, as the endpoint writes them.
      byte[] value = line.substring(colon + 1).strip().getBytes(StandardCharsets.ISO_8859_1);
      fields.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT),
          new String(value, StandardCharsets.UTF_8));
    }
  }

  int status() {
    return status;
  }

  /// @param name in small letters
  /// @return empty: there is none
  String field(String name) {
    return fields.getOrDefault(name, "");
  }

  AnswerBody body() {
    return body;
  }
}
