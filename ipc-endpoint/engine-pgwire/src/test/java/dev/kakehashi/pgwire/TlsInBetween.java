package dev.kakehashi.pgwire;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/// Somebody between client and server who reads what they say: TLS to both, with a certificate of his own. Takes one connection.
final class TlsInBetween implements AutoCloseable {
  private static final int TLS_REQUEST = 80_877_103;
  private static final int REQUEST_BYTES = 8;

  private final ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
  private final int server;
  private final SSLContext context;

  /// @param server its port
  /// @param certificate PEM
  /// @param key PEM, of an elliptic curve
  TlsInBetween(int server, Path certificate, Path key) throws IOException {
    this.server = server;
    try {
      this.context = context(certificate, key);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
    Thread.ofVirtual().start(this::serve);
  }

  private static SSLContext context(Path certificate, Path key)
      throws IOException, GeneralSecurityException {
    String text = Files.readString(key).replaceAll("-----[A-Z ]+-----|\\s", "");
    PrivateKey secret =
        KeyFactory.getInstance("EC")
            .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (InputStream in = Files.newInputStream(certificate)) {
      Certificate own = CertificateFactory.getInstance("X.509").generateCertificate(in);
      store.setKeyEntry("own", secret, new char[0], new Certificate[] {own});
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), new TrustManager[] {new Anybody()}, null);
    return context;
  }

  int port() {
    return listener.getLocalPort();
  }

  private void serve() {
    try (Socket client = listener.accept();
        Socket toServer = new Socket(InetAddress.getLoopbackAddress(), server)) {
      client.getInputStream().readNBytes(REQUEST_BYTES);
      client.getOutputStream().write('S');
      toServer
          .getOutputStream()
          .write(
              ByteBuffer.allocate(REQUEST_BYTES).putInt(REQUEST_BYTES).putInt(TLS_REQUEST).array());
      toServer.getInputStream().read();
      SSLSocket left = (SSLSocket) context.getSocketFactory().createSocket(client, null, true);
      SSLSocket right =
          (SSLSocket) context.getSocketFactory().createSocket(toServer, "localhost", server, true);
      Thread back = Thread.ofVirtual().start(() -> forward(right, left));
      forward(left, right);
      back.join();
    } catch (IOException closed) {
      return; // the test ends
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void forward(Socket from, Socket to) {
    try (from;
        to;
        OutputStream out = new AtOnce(to.getOutputStream())) {
      from.getInputStream().transferTo(out);
    } catch (IOException closed) {
      return; // one side has hung up
    }
  }

  /// Holds nothing back.
  private static final class AtOnce extends FilterOutputStream {
    AtOnce(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      out.flush();
    }
  }

  private static final class Anybody implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
