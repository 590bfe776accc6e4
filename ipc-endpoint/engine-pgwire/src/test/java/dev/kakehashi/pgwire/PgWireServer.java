package dev.kakehashi.pgwire;

import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A private PostgreSQL with a database "kakehashi", whose user "kakehashi" needs a password. It ends with the JVM, also when that is
/// killed.
final class PgWireServer implements AutoCloseable {
  static final String USER = "kakehashi";
  static final String PASSWORD = "secret, of a test";

  private final PrivatePostgres server;

  private PgWireServer(PrivatePostgres server) {
    this.server = server;
  }

  static boolean isAvailable() {
    return PrivatePostgres.isAvailable();
  }

  /// Makes and starts one.
  ///
  /// @param settings lines of its configuration besides
  static PgWireServer start(String... settings) {
    return start(Map.of(), settings);
  }

  /// Makes and starts one.
  ///
  /// @param files of its data directory by name, which nobody else reads
  /// @param settings lines of its configuration besides
  static PgWireServer start(Map<String, String> files, String... settings) {
    PrivatePostgres.Options options =
        new PrivatePostgres.Options()
            .small()
            .hostAuthentication("scram-sha-256")
            .settings("max_prepared_transactions = 20", "max_connections = 100")
            .settings(settings);
    files.forEach(options::file);
    PgWireServer server = new PgWireServer(options.start());
    server.psql("CREATE ROLE " + USER + " LOGIN PASSWORD '" + PASSWORD + "'");
    server.psql("GRANT pg_signal_backend, pg_read_all_stats TO " + USER);
    server.psql("CREATE DATABASE kakehashi OWNER " + USER);
    return server;
  }

  /// Ends its processes as `kill -9` does, and starts it; returns when it takes connections.
  void crash() {
    server.kill();
    server.startAgain();
  }

  /// A command of the shell that does the same; see [PrivatePostgres#crashCommand()].
  String crashCommand() {
    return server.crashCommand();
  }

  /// Runs a statement as superuser, in the database `postgres`.
  void psql(String sql) {
    server.psql(sql);
  }

  /// Opens an engine over it.
  PgWireEngine open(PoolLimits pool, EngineLimits limits) throws IOException {
    return PgWireEngine.open(
        PgWireUnderTest.config(
            List.of(new ServerAddress("127.0.0.1", port())), passwordFile(), pool, limits));
  }

  int port() {
    return server.port();
  }

  /// A file of the server's own directory with the password.
  Path passwordFile() throws IOException {
    Path file = server.directory().resolve("password");
    if (!Files.exists(file)) {
      Files.writeString(PrivatePostgres.ofOwner(file), PASSWORD + "\n");
    }
    return file;
  }

  @Override
  public void close() {
    server.close();
  }
}
