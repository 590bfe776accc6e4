package dev.kakehashi.rest.server;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
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

/// A client that sends what it is told to, byte by byte, and takes nothing for granted. One thread.
public final class RawClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 20_000;

  /// As `curl -u alice:wonder` sends it.
  public static final String ALICE = basic("alice", "wonder");

  private final Closeable connection;
  private final InputStream in;
  private final OutputStream out;

  /// @param headers names in small letters; of several with one name the last
  public record Answer(int status, Map<String, String> headers, byte[] body) {
    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    public String header(String name) {
      return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
    }
  }

  public RawClient(URI uri) throws IOException {
    this(new Socket(uri.getHost(), uri.getPort()));
  }

  /// @param socket connected; closed with the client
  public RawClient(Socket socket) throws IOException {
    this.connection = socket;
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    this.in = socket.getInputStream();
    this.out = socket.getOutputStream();
  }

  /// Connects to a Unix socket.
  public RawClient(Path path) throws IOException {
    SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
    this.connection = channel;
    this.in = Channels.newInputStream(channel);
    this.out = Channels.newOutputStream(channel);
  }

  /// A line of the header, with its end.
  public static String basic(String user, String password) {
    byte[] pair = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
    return "Authorization: Basic " + Base64.getEncoder().encodeToString(pair) + "\r\n";
  }

  /// Sends nothing more.
  public void endSending() throws IOException {
    ((Socket) connection).shutdownOutput();
  }

  /// Bytes that come, for what is no answer.
  public InputStream input() {
    return in;
  }

  public RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.UTF_8));
  }

  public RawClient send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
    return this;
  }

  /// Sends a request for which only the Host is added.
  ///
  /// @param head line and fields, each with its end, as `GET /v1 HTTP/1.1\r\n`
  public RawClient request(String head, String body) throws IOException {
    int lineEnd = head.indexOf("\r\n") + 2;
    String length =
        body.isEmpty()
            ? ""
            : "Content-Length: " + body.getBytes(StandardCharsets.UTF_8).length + "\r\n";
    return send(
        head.substring(0, lineEnd)
            + "Host: localhost\r\n"
            + head.substring(lineEnd)
            + length
            + "\r\n"
            + body);
  }

  /// Reads one answer.
  ///
  /// @throws EOFException the connection ended within it, or before
  public Answer answer() throws IOException {
    return answer(true);
  }

  /// @param hasBody whether it is no answer to HEAD
  public Answer answer(boolean hasBody) throws IOException {
    String status = line();
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    int code = Integer.parseInt(status.substring(9, 12));
    byte[] body =
        hasBody && code != 204 && code != 304 && code >= 200 ? body(headers) : new byte[0];
    return new Answer(code, headers, body);
  }

  private byte[] body(Map<String, String> headers) throws IOException {
    if (headers.containsKey("content-length")) {
      return exactly(Integer.parseInt(headers.get("content-length")));
    }
    if (!"chunked".equals(headers.get("transfer-encoding"))) {
      return in.readAllBytes();
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int length = chunkLength(); length > 0; length = chunkLength()) {
      body.write(exactly(length));
      line();
    }
    line();
    return body.toByteArray();
  }

  private int chunkLength() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private byte[] exactly(int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the body ended early");
    }
    return bytes;
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the connection ended");
      }
      line.write(b);
    }
    String text = line.toString(StandardCharsets.ISO_8859_1);
    return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
  }

  /// Whether the other side ends the connection, which may take a while, without sending anything more.
  public boolean isEnded() throws IOException {
    try {
      return in.read() < 0;
    } catch (SocketException e) {
      return true;
    }
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }
}
