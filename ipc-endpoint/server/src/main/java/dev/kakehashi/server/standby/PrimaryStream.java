package dev.kakehashi.server.standby;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/// A connection to a primary that has left HTTP: the log comes on it, and acknowledgements go back. HTTP clients of libraries send a whole
/// request before its answer begins, so this one says its few lines itself.
///
/// Used by one thread.
final class PrimaryStream implements AutoCloseable {
  static final String PROTOCOL = "kakehashi-log";

  private static final int SWITCHED = 101;
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(5);
  private static final int MOST_HEAD_BYTES = 16 << 10;
  private static final int MOST_PROBLEM_BYTES = 64 << 10;
  private static final String HEAD_END = "\r\n\r\n";
  private static final int HTTPS_PORT = 443;
  private static final int HTTP_PORT = 80;

  private final Socket socket;
  private final InputStream input;

  private PrimaryStream(Socket socket) throws IOException {
    this.socket = socket;
    // Bytes that are read ahead belong to what follows the head.
    this.input = new BufferedInputStream(socket.getInputStream());
  }

  /// Asks for a stream.
  ///
  /// @param target with its query
  /// @param context for `https`
  /// @param patience for the primary's answer, and for what it sends later
  /// @param begun gets the socket before it is connected: closing that ends everything here
  /// @throws IOException if the primary is not there, or refuses
  static PrimaryStream open(
      URI target,
      String authorization,
      SSLContext context,
      Duration patience,
      Consumer<Socket> begun)
      throws IOException {
    Socket socket = connect(target, context, patience, begun);
    boolean opened = false;
    try {
      PrimaryStream stream = new PrimaryStream(socket);
      stream.request(target, authorization);
      stream.requireSwitched();
      opened = true;
      return stream;
    } finally {
      if (!opened) {
        socket.close();
      }
    }
  }

  private static Socket connect(
      URI target, SSLContext context, Duration patience, Consumer<Socket> begun)
      throws IOException {
    boolean isSecure = "https".equals(target.getScheme());
    int byDefault = isSecure ? HTTPS_PORT : HTTP_PORT;
    int port = target.getPort() < 0 ? byDefault : target.getPort();
    String host = target.getHost();
    Socket socket = new Socket();
    boolean connected = false;
    try {
      begun.accept(socket);
      socket.connect(new InetSocketAddress(host, port), (int) CONNECT_PATIENCE.toMillis());
      socket.setTcpNoDelay(true);
      socket.setSoTimeout((int) patience.toMillis());
      if (isSecure) {
        SSLSocket secure =
            (SSLSocket) context.getSocketFactory().createSocket(socket, host, port, true);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secure.setSSLParameters(parameters);
        socket = secure;
        secure.startHandshake();
      }
      connected = true;
      return socket;
    } finally {
      if (!connected) {
        socket.close();
      }
    }
  }

  private void request(URI target, String authorization) throws IOException {
    String head =
        """
        GET %s?%s HTTP/1.1
        Host: %s
        Authorization: %s
        Connection: Upgrade
        Upgrade: %s

        """
            .formatted(
                target.getRawPath(),
                target.getRawQuery(),
                target.getRawAuthority(),
                authorization,
                PROTOCOL);
    output().write(head.replace("\n", "\r\n").getBytes(StandardCharsets.US_ASCII));
    output().flush();
  }

  private void requireSwitched() throws IOException {
    String head = head();
    String[] words = head.split("[ \r]", 3);
    int status = -1;
    if (words.length == 3 && words[0].equals("HTTP/1.1") && words[1].matches("\\d{3}")) {
      status = Integer.parseInt(words[1]);
    }
    if (status == SWITCHED) {
      return;
    }
    throw status < 0
        ? new IOException("what answers is no HTTP server")
        : PrimaryClient.refused(status, problem(head));
  }

  private String head() throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.lastIndexOf(HEAD_END) < 0) {
      int next = input.read();
      if (next < 0 || head.length() == MOST_HEAD_BYTES) {
        throw new IOException("the primary's answer is cut off, or none of HTTP");
      }
      head.append((char) next);
    }
    return head.toString();
  }

  /// Body of a refusal, which has its length.
  private String problem(String head) throws IOException {
    for (String line : head.lines().toList()) {
      String[] field = line.split(":", 2);
      if (field.length == 2 && field[0].toLowerCase(Locale.ROOT).equals("content-length")) {
        int length;
        try {
          length = Integer.parseInt(field[1].strip());
        } catch (NumberFormatException e) {
          throw new IOException("the primary's answer has no length that can be read", e);
        }
        byte[] body = input.readNBytes(Math.clamp(length, 0, MOST_PROBLEM_BYTES));
        return new String(body, StandardCharsets.UTF_8);
      }
    }
    return "";
  }

  InputStream input() {
    return input;
  }

  OutputStream output() throws IOException {
    return socket.getOutputStream();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
