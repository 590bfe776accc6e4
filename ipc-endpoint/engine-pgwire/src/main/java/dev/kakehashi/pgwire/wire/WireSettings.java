package dev.kakehashi.pgwire.wire;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// How connections are made. Immutable.
///
/// @param database name of the database
/// @param user role that connects
/// @param password read anew for each connection; null: none is needed
/// @param tls whether and how far the connection is protected
/// @param authority certificates in PEM that sign the servers'; null: those of the JVM, which [Tls#VERIFY_CA] does not take
/// @param timeZone of the sessions
/// @param connectTimeout longest time until a connection can be used
/// @param operationTimeout longest time without an answer, after which the server is asked whether it is still at work
/// @param lockTimeout longest wait for a lock; zero: no limit
/// @param applicationName as the server shows it
public record WireSettings(
    String database,
    String user,
    @Nullable Path password,
    Tls tls,
    @Nullable Path authority,
    String timeZone,
    Duration connectTimeout,
    Duration operationTimeout,
    Duration lockTimeout,
    String applicationName) {
  public WireSettings {
    if (tls == Tls.VERIFY_CA && authority == null) {
      // Everybody can have a certificate of an authority of the public.
      throw new IllegalArgumentException("TLS \"verify-ca\" needs certificates of an authority");
    }
  }

  /// As libpq's sslmode.
  public enum Tls {
    DISABLE,
    /// Encrypted, whoever the server is; as [#VERIFY_CA] if there is an authority.
    REQUIRE,
    /// Encrypted, and the authority knows the server.
    VERIFY_CA,
    /// Encrypted, and the server is the one that was asked for.
    VERIFY_FULL;

    /// As the setting has it.
    public String key() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }
}
