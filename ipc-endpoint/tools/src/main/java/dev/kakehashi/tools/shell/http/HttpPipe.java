package dev.kakehashi.tools.shell.http;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/// A connection to an endpoint: TCP, TLS or a Unix socket. [#close] may come from any thread, and ends what reads or writes.
final class HttpPipe implements Closeable {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int BUFFER_BYTES = 1 << 16;

  final InputStream in;
  final OutputStream out;
  private final Closeable below;

  /// When the last answer has ended.
  long idleSince = System.nanoTime();

  private HttpPipe(InputStream in, OutputStream out, Closeable below) {
    this.in = new BufferedInputStream(in, BUFFER_BYTES);
    this.out = out;
    this.below = below;
  }

  /// Connects.
  ///
  /// @param proving whether a password will be sent
  static HttpPipe open(HttpPlace place, boolean proving) throws IOException {
    if (place.isUnix()) {
      SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(place.socketPath()));
      return new HttpPipe(
          Channels.newInputStream(channel), Channels.newOutputStream(channel), channel);
    }
    InetAddress address = InetAddress.getByName(place.host());
    if (proving && !place.secure() && !address.isLoopbackAddress()) {
      throw new IOException("a password does not go to another host in plain; use https");
    }
    Socket socket = new Socket();
    boolean opened = false;
    try {
      socket.connect(new InetSocketAddress(address, place.port()), CONNECT_MILLIS);
      socket.setTcpNoDelay(true);
      HttpPipe pipe =
          place.secure()
              ? secure(socket, place)
              : new HttpPipe(socket.getInputStream(), socket.getOutputStream(), socket);
      opened = true;
      return pipe;
    } finally {
      if (!opened) {
        socket.close();
      }
    }
  }

  /// Closing goes to the socket below: TLS would wait for the thread that reads.
  private static HttpPipe secure(Socket socket, HttpPlace place) throws IOException {
    SSLSocket secured =
        (SSLSocket) factory(place).createSocket(socket, place.host(), place.port(), true);
    SSLParameters parameters = secured.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    secured.setSSLParameters(parameters);
    secured.startHandshake();
    return new HttpPipe(secured.getInputStream(), secured.getOutputStream(), socket);
  }

  private static SSLSocketFactory factory(HttpPlace place) throws IOException {
    if (place.authority() == null) {
      return (SSLSocketFactory) SSLSocketFactory.getDefault();
    }
    try (InputStream pem = Files.newInputStream(place.authority())) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      int number = 0;
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        trusted.setCertificateEntry("authority-" + number++, each);
      }
      if (number == 0) {
        throw new IOException("\"" + place.authority() + "\" has no certificate");
      }
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException broken) {
      throw new IOException(
          "could not use the certificates of \"" + place.authority() + "\": " + broken.getMessage(),
          broken);
    }
  }

  @Override
  public void close() throws IOException {
    below.close();
  }
}
