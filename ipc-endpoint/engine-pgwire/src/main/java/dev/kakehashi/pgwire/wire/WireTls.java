package dev.kakehashi.pgwire.wire;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// The protected form of a connection.
final class WireTls {
  private WireTls() {}

  /// Goes over to TLS on a socket on which the server has agreed to it.
  static SSLSocket over(Socket socket, ServerAddress address, WireSettings settings)
      throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust(settings), null);
      SSLSocket tls =
          (SSLSocket)
              context.getSocketFactory().createSocket(socket, address.host(), address.port(), true);
      if (settings.tls() == WireSettings.Tls.VERIFY_FULL) {
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        tls.setSSLParameters(parameters);
      }
      tls.startHandshake();
      return tls;
    } catch (GeneralSecurityException e) {
      throw new IOException("TLS cannot be used: " + e.getMessage(), e);
    }
  }

  /// @return null: what the JVM trusts
  private static TrustManager @Nullable [] trust(WireSettings settings)
      throws GeneralSecurityException, IOException {
    if (settings.tls() == WireSettings.Tls.REQUIRE) {
      return new TrustManager[] {new Anybody()};
    }
    Path authority = settings.authority();
    if (authority == null) {
      return null;
    }
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    int count = 0;
    try (InputStream in = Files.newInputStream(authority)) {
      for (Certificate certificate :
          CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("authority" + count++, certificate);
      }
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  /// `require` of libpq: nobody listens in, whoever the server is.
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
}
