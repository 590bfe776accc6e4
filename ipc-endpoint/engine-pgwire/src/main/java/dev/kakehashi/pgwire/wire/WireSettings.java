package dev.kakehashi.pgwire.wire;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// How connections are made. Immutable.
///
/// @param database name of the database
/// @param user role that connects
/// @param password read anew for each connection; null: none is needed
/// @param tls whether and how far the connection is protected
/// @param authority certificates in PEM that sign the servers'; null: those of the JVM. Only for [Tls#VERIFY_FULL]
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
  /// As libpq's sslmode.
  public enum Tls {
    DISABLE,
    /// Encrypted, whoever the server is.
    REQUIRE,
    /// Encrypted, and the server is the one that was asked for.
    VERIFY_FULL
  }
}
