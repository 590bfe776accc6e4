package dev.kakehashi.benchmarks.rest;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One connection of HTTP/1.1 that stays open, cheap enough not to be what is measured. Not thread-safe.
final class Wire implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 18;

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int at;
  private int limit;

  /// Status of the last answer, to which the next two fields belong.
  private int status;

  private long bodyBytes;
  private String location = "";

  Wire(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    in = socket.getInputStream();
    out = socket.getOutputStream();
  }

  /// The bytes of a request.
  ///
  /// @param fields of the header, each with its line end
  static byte[] request(String method, String path, String fields, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String length = method.equals("GET") ? "" : "Content-Length: " + bytes.length + "\r\n";
    String head =
        "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s%s\r\n".formatted(method, path, fields, length);
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
    request.writeBytes(bytes);
    return request.toByteArray();
  }

  /// Sends a request and reads its answer to the end.
  ///
  /// @param kept gets the body; null: it is dropped
  /// @return the status
  int exchange(byte[] request, @Nullable ByteArrayOutputStream kept) throws IOException {
    out.write(request);
    return read(kept);
  }

  /// The same; anything but the status is an error.
  void expect(int expected, byte[] request) throws IOException {
    if (exchange(request, null) != expected) {
      throw new IOException("HTTP status " + status + " in place of " + expected);
    }
  }

  /// Sends a request whose answer is read later.
  void send(byte[] request) throws IOException {
    out.write(request);
  }

  int read(@Nullable ByteArrayOutputStream kept) throws IOException {
    String first = line();
    status = Integer.parseInt(first, 9, 12, 10);
    long length = -1;
    boolean chunked = false;
    location = "";
    for (String field = line(); !field.isEmpty(); field = line()) {
      int colon = field.indexOf(':');
      String value = field.substring(colon + 1).strip();
      switch (field.substring(0, colon).toLowerCase(Locale.ROOT)) {
        case "content-length" -> length = Long.parseLong(value);
        case "transfer-encoding" -> chunked = value.equalsIgnoreCase("chunked");
        case "location" -> location = value;
        default -> {}
      }
    }
    bodyBytes = 0;
    if (chunked) {
      chunks(kept);
    } else if (length > 0) {
      body(length, kept);
    }
    return status;
  }

  private void chunks(@Nullable ByteArrayOutputStream kept) throws IOException {
    for (long size = chunkSize(); size > 0; size = chunkSize()) {
      body(size, kept);
      line();
    }
    while (!line().isEmpty()) {
      // a trailer
    }
  }

  private long chunkSize() throws IOException {
    String line = line();
    int end = line.indexOf(';');
    return Long.parseLong(line, 0, end < 0 ? line.length() : end, 16);
  }

  private void body(long length, @Nullable ByteArrayOutputStream kept) throws IOException {
    long left = length;
    while (left > 0) {
      if (at == limit) {
        fill();
      }
      int taken = (int) Math.min(left, limit - at);
      if (kept != null) {
        kept.write(buffer, at, taken);
      }
      at += taken;
      left -= taken;
    }
    bodyBytes += length;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int next = next(); next != '\n'; next = next()) {
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  private int next() throws IOException {
    if (at == limit) {
      fill();
    }
    return buffer[at++] & 0xFF;
  }

  private void fill() throws IOException {
    int got = in.read(buffer, 0, buffer.length);
    if (got < 0) {
      throw new EOFException("the connection ended within an answer");
    }
    at = 0;
    limit = got;
  }

  /// Bytes of the last answer's body.
  long bodyBytes() {
    return bodyBytes;
  }

  /// Location of the last answer; empty: the answer had none.
  String location() {
    return location;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
