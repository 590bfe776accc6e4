package dev.kakehashi.server.http;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// A connection to the door that shows what is on the wire: trailers, broken framing, what comes first. One thread at a time; tests bound
/// the time.
final class HttpConnection implements AutoCloseable {
  static final String SQL = "/v1/sql";

  /// As [HttpFixture] has him.
  static final String ALICE = basic("alice", "wonder");

  private final SocketChannel channel;
  private final InputStream in;
  private final OutputStream out;
  private final String authorization;

  /// Status and fields of an answer whose body is to be read yet.
  record Head(int status, Map<String, String> headers) {}

  private HttpConnection(SocketAddress address, String authorization) throws IOException {
    this.channel = SocketChannel.open(address);
    this.in = new java.io.BufferedInputStream(Channels.newInputStream(channel), 1 << 16);
    this.out = Channels.newOutputStream(channel);
    this.authorization = authorization;
  }

  /// @param authorization a line of each request, with its end; empty: none
  static HttpConnection open(URI uri, String authorization) throws IOException {
    return new HttpConnection(new InetSocketAddress(uri.getHost(), uri.getPort()), authorization);
  }

  static HttpConnection open(Path socket, String authorization) throws IOException {
    return new HttpConnection(UnixDomainSocketAddress.of(socket), authorization);
  }

  /// A line of the header, with its end.
  static String basic(String user, String password) {
    byte[] pair = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
    return "Authorization: Basic " + Base64.getEncoder().encodeToString(pair) + "\r\n";
  }

  static String bearer(String token) {
    return "Authorization: Bearer " + token + "\r\n";
  }

  HttpConnection send(byte[] bytes) throws IOException {
    out.write(bytes);
    return this;
  }

  /// Sends a request.
  ///
  /// @param fields each as `Name: value`
  HttpConnection send(String line, byte[] body, String... fields) throws IOException {
    StringBuilder head =
        new StringBuilder(line).append(" HTTP/1.1\r\nHost: localhost\r\n").append(authorization);
    for (String field : fields) {
      head.append(field).append("\r\n");
    }
    if (body.length > 0 || line.startsWith("POST")) {
      head.append("Content-Length: ").append(body.length).append("\r\n");
    }
    byte[] start = head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream all = new ByteArrayOutputStream(start.length + body.length);
    all.writeBytes(start);
    all.writeBytes(body);
    return send(all.toByteArray());
  }

  /// Sends a statement as text.
  HttpConnection sendSql(String sql, String... fields) throws IOException {
    String[] all = java.util.Arrays.copyOf(fields, fields.length + 1);
    all[fields.length] = "Content-Type: application/sql";
    return send("POST " + SQL, sql.getBytes(StandardCharsets.UTF_8), all);
  }

  HttpAnswer sql(String sql, String... fields) throws IOException {
    return sendSql(sql, fields).answer();
  }

  /// Sends a statement as JSON.
  HttpAnswer json(String body, String... fields) throws IOException {
    String[] all = java.util.Arrays.copyOf(fields, fields.length + 1);
    all[fields.length] = "Content-Type: application/json";
    return send("POST " + SQL, body.getBytes(StandardCharsets.UTF_8), all).answer();
  }

  HttpAnswer get(String path, String... fields) throws IOException {
    return send("GET " + path, new byte[0], fields).answer();
  }

  HttpAnswer post(String path, String... fields) throws IOException {
    return send("POST " + path, new byte[0], fields).answer();
  }

  HttpAnswer delete(String path, String... fields) throws IOException {
    return send("DELETE " + path, new byte[0], fields).answer();
  }

  /// A value of the field of the transaction: the field of a request.
  static String within(String value) {
    return HttpAnswer.TRANSACTION + ": " + value;
  }

  static String in(String handle) {
    return within("continue;handle=\"" + handle + "\"");
  }

  static String ending(String handle) {
    return within("end;handle=\"" + handle + "\"");
  }

  /// Reads an answer.
  ///
  /// @throws EOFException the connection has ended before the body
  HttpAnswer answer() throws IOException {
    return body(head());
  }

  /// @throws EOFException the connection has ended
  Head head() throws IOException {
    String line = line();
    return new Head(Integer.parseInt(line.substring(9, 12)), fields());
  }

  private Map<String, String> fields() throws IOException {
    Map<String, String> fields = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      fields.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return fields;
  }

  /// Reads the body of an answer to its end, be it good or bad.
  HttpAnswer body(Head head) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    Map<String, String> trailers = Map.of();
    boolean isWhole = false;
    try {
      String length = head.headers().get("content-length");
      if (length != null) {
        copy(Integer.parseInt(length), body);
      } else if ("chunked".equals(head.headers().get("transfer-encoding"))) {
        for (int chunk = chunk(); chunk > 0; chunk = chunk()) {
          copy(chunk, body);
          line();
        }
        trailers = fields();
      }
      isWhole = true;
    } catch (EOFException e) {
      // The bytes before it are the answer.
      isWhole = false;
    } catch (java.net.SocketException e) {
      isWhole = false;
    }
    return new HttpAnswer(head.status(), head.headers(), body.toByteArray(), trailers, isWhole);
  }

  private int chunk() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private void copy(int length, ByteArrayOutputStream to) throws IOException {
    byte[] bytes = in.readNBytes(length);
    to.writeBytes(bytes);
    if (bytes.length < length) {
      throw new EOFException("the body ended early");
    }
  }

  /// Some bytes of a body, with its framing.
  byte[] some(int count) throws IOException {
    return in.readNBytes(count);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the connection has ended");
      }
      line.append((char) b);
    }
    int last = line.length() - 1;
    return last >= 0 && line.charAt(last) == '\r' ? line.substring(0, last) : line.toString();
  }

  /// Goes away, as a client that has crashed.
  @Override
  public void close() throws IOException {
    channel.close();
  }
}
