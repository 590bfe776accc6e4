package dev.kakehashi.rest.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The TLS side of one listener: keys from PEM files, which are read again when they change. New connections get the new ones; open ones go
/// on. Looked after by the selector's thread alone, and only while clients connect: idle costs nothing.
final class TlsIdentity {
  private static final Logger LOG = LoggerFactory.getLogger(TlsIdentity.class);

  /// Between two looks at the files.
  static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final HttpListener.Tls listener;
  private final SslContextFactory.Server context = new SslContextFactory.Server();
  private List<FileTime> seen;
  private long lookedAt = System.nanoTime();

  /// @throws IOException the files cannot be read, or do not hold what they should
  TlsIdentity(HttpListener.Tls listener) throws IOException {
    this.listener = listener;
    this.seen = times();
    context.setIncludeProtocols("TLSv1.3", "TLSv1.2");
    context.setRenegotiationAllowed(false);
    // Clients choose among the allowed ones by the host's order otherwise.
    context.setUseCipherSuitesOrder(true);
    context.setSniRequired(false);
    if (listener.clientAuthority() != null) {
      context.setWantClientAuth(true);
      context.setNeedClientAuth(listener.requiresCertificate());
    }
    try {
      Stores.read(listener).putInto(context);
    } catch (GeneralSecurityException e) {
      throw new IOException("certificate or key of the HTTP door: " + e.getMessage(), e);
    }
  }

  SslContextFactory.Server context() {
    return context;
  }

  /// @param authorities null: clients have no certificates
  private record Stores(KeyStore identity, @Nullable KeyStore authorities) {
    static Stores read(HttpListener.Tls listener) throws IOException, GeneralSecurityException {
      Path authority = listener.clientAuthority();
      return new Stores(
          PemFiles.identity(listener.certificate(), listener.key()),
          authority == null ? null : PemFiles.authorities(authority));
    }

    void putInto(SslContextFactory context) {
      context.setKeyStore(identity);
      context.setKeyStorePassword("");
      if (authorities != null) {
        context.setTrustStore(authorities);
      }
    }
  }

  private List<FileTime> times() throws IOException {
    List<FileTime> times = new ArrayList<>();
    times.add(Files.getLastModifiedTime(listener.certificate()));
    times.add(Files.getLastModifiedTime(listener.key()));
    if (listener.clientAuthority() != null) {
      times.add(Files.getLastModifiedTime(listener.clientAuthority()));
    }
    return times;
  }

  /// Takes over files that have changed. Files that do not fit yet, because only one of them was replaced, leave the old keys in use.
  void refresh() {
    long now = System.nanoTime();
    if (now - lookedAt < LOOK_NANOS) {
      return;
    }
    lookedAt = now;
    try {
      List<FileTime> times = times();
      if (!times.equals(seen)) {
        seen = times;
        reload();
      }
    } catch (IOException e) {
      LOG.warn("certificate or key of the HTTP door: {}; the old ones stay in use", e.getMessage());
    }
  }

  private void reload() {
    try {
      Stores stores = Stores.read(listener);
      context.reload(stores::putInto);
      LOG.info("certificate and key of the HTTP door were read again");
    } catch (Exception e) {
      LOG.warn("certificate or key of the HTTP door: {}; the old ones stay in use", e.getMessage());
    }
  }
}
