package dev.kakehashi.pgwire.wire;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// The protected form of a connection.
final class WireTls {
  private static final int TLS_REQUEST = 80_877_103;

  private WireTls() {}

  /// Asks the server for TLS, and goes over to it.
  ///
  /// @param socket nothing was sent on it yet; its time-outs hold here, too
  /// @throws IOException also when the server has no TLS, or is not the one that was asked for
  static SSLSocket over(Socket socket, ServerAddress address, WireSettings settings)
      throws IOException {
    WireOutput request = new WireOutput().beginUntyped().putInt(TLS_REQUEST).end();
    socket.getOutputStream().write(request.array(), 0, request.size());
    // One byte alone: what comes behind it belongs to TLS, or is an injection that TLS refuses.
    int answer = socket.getInputStream().read();
    if (answer != 'S') {
      throw new IOException("the server does not offer TLS");
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust(settings), null);
      SSLSocket tls =
          (SSLSocket)
              context.getSocketFactory().createSocket(socket, address.host(), address.port(), true);
      SSLParameters parameters = tls.getSSLParameters();
      // Keeps a connection from being turned to a server of another protocol.
      parameters.setApplicationProtocols(new String[] {"postgresql"});
      if (settings.tls() == WireSettings.Tls.VERIFY_FULL) {
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
      }
      tls.setSSLParameters(parameters);
      tls.startHandshake();
      return tls;
    } catch (GeneralSecurityException e) {
      throw new IOException("TLS cannot be used: " + e.getMessage(), e);
    }
  }

  /// @return null: what the JVM trusts
  private static TrustManager @Nullable [] trust(WireSettings settings)
      throws GeneralSecurityException, IOException {
    Path authority = settings.authority();
    if (authority == null) {
      return settings.tls() == WireSettings.Tls.REQUIRE ? new TrustManager[] {new Anybody()} : null;
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
    if (count == 0) {
      throw new IOException("\"" + authority + "\" has no certificate");
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  /// Hash of the server's certificate as RFC 5929 wants it for tls-server-end-point; null: the certificate's signature has no hash.
  static byte @Nullable [] certificateHash(SSLSocket tls) {
    try {
      X509Certificate certificate = (X509Certificate) tls.getSession().getPeerCertificates()[0];
      String signature = certificate.getSigAlgName().toUpperCase(Locale.ROOT);
      int with = signature.indexOf("WITH");
      if (with <= 0) {
        return null;
      }
      String hash = signature.substring(0, with);
      String name =
          switch (hash) {
            case "MD5", "SHA1", "SHA256" -> "SHA-256";
            case "SHA224", "SHA384", "SHA512" -> "SHA-" + hash.substring(3);
            default -> "";
          };
      return name.isEmpty()
          ? null
          : MessageDigest.getInstance(name).digest(certificate.getEncoded());
    } catch (SSLPeerUnverifiedException e) {
      throw new WireException("the server has no certificate", e);
    } catch (GeneralSecurityException e) {
      throw new WireException("the server's certificate cannot be used: " + e.getMessage(), e);
    }
  }

  /// `require` of libpq without a root certificate: nobody listens in, whoever the server is.
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
