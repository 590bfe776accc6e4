package dev.kakehashi.rest.server;

import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Where the door listens. There is no plain listener beyond the host.
public sealed interface HttpListener {
  /// A Unix socket. A client that may open it is known by its OS user.
  ///
  /// @param path at most 107 bytes; a socket that a dead process has left there is replaced
  /// @param permissions of the socket's file
  record UnixSocket(Path path, Set<PosixFilePermission> permissions) implements HttpListener {}

  /// 127.0.0.1, in plain.
  ///
  /// @param port 0: a free one
  record Loopback(int port) implements HttpListener {}

  /// Any address, TLS 1.2 or later.
  ///
  /// @param host name or address to bind to
  /// @param port 0: a free one
  /// @param certificate file with the chain in PEM, the server's first; read again when it changes
  /// @param key file with the private key in PEM (PKCS #8, not encrypted); read again when it changes
  /// @param clientAuthority file with certificates in PEM that sign clients; null: clients have no certificates
  /// @param requiresCertificate whether a client without a certificate is turned away
  record Tls(
      String host,
      int port,
      Path certificate,
      Path key,
      @Nullable Path clientAuthority,
      boolean requiresCertificate)
      implements HttpListener {}
}
