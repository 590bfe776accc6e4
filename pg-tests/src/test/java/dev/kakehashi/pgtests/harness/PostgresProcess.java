package dev.kakehashi.pgtests.harness;

import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/// A PostgreSQL server with its own cluster and port that has the extension. Used by one test class; not thread-safe except for
/// [#connect()] and [#psql].
public final class PostgresProcess implements AutoCloseable {
  private final PrivatePostgres server;

  private PostgresProcess(PrivatePostgres server) {
    this.server = server;
  }

  /// Makes a cluster below `home` and starts it.
  ///
  /// @param settings lines of postgresql.conf besides ports and directories
  public static PostgresProcess start(Path home, Map<String, String> settings) {
    PrivatePostgres.Options options =
        new PrivatePostgres.Options()
            .binaries(Installation.postgresBinaries())
            .osUser(Installation.serverUser())
            .home(home)
            .locale("C.UTF-8");
    settings.forEach(
        (name, value) -> options.settings(name + " = '" + value.replace("'", "''") + "'"));
    return new PostgresProcess(options.start());
  }

  /// Starts the server again, after [#stop()] or [#kill()].
  public void start() {
    server.startAgain();
  }

  private boolean isReady() {
    try (Connection connection = connect()) {
      return connection.isValid(1);
    } catch (SQLException e) {
      return false; // refused or starting up
    }
  }

  /// Waits until the server accepts connections again after one of its backends was killed.
  ///
  /// @param bystander a session from before the kill. The server ends it when it has noticed, and only then does accepting
  ///     connections mean that it has recovered.
  public void awaitRecovery(Connection bystander) {
    Await.until(
        "end of all sessions of PostgreSQL in " + server.directory(), () -> isLost(bystander));
    Await.until("recovery of PostgreSQL in " + server.directory(), this::isReady);
  }

  private static boolean isLost(Connection connection) {
    try {
      Sql.execute(connection, "SELECT 1");
      return false;
    } catch (SQLException e) {
      return true; // 57P02 first, a closed connection afterwards
    }
  }

  /// A new session with database postgres as its superuser.
  public Connection connect() throws SQLException {
    return connect("");
  }

  /// The same with parameters of the driver, as in a URL.
  public Connection connect(String parameters) throws SQLException {
    var properties = new Properties();
    properties.setProperty("user", "postgres");
    properties.setProperty("connectTimeout", "10");
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:" + port() + "/postgres?" + parameters, properties);
  }

  /// Runs a script with psql; its output without headers and alignment, errors included.
  public OsProcess.Outcome psql(String script) {
    return OsProcess.run(
        List.of("psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=verbose"),
        environment(),
        script,
        Duration.ofMinutes(2));
  }

  /// Environment of libpq programs.
  public Map<String, String> environment() {
    return Map.of(
        "PGHOST",
        server.directory().toString(),
        "PGPORT",
        Integer.toString(port()),
        "PGUSER",
        "postgres",
        "PGDATABASE",
        "postgres");
  }

  public int port() {
    return server.port();
  }

  public Path log() {
    return server.log();
  }

  /// Whether the postmaster runs.
  public boolean isAlive() {
    return server.isAlive();
  }

  /// Fast shutdown. Does nothing when the server does not run.
  public void stop() {
    server.stop();
  }

  /// Kills the postmaster and all its children at once.
  public void kill() {
    server.kill();
  }

  /// Kills the postmaster alone, and waits until its children have ended by themselves.
  public void killPostmaster() {
    server.killPostmaster();
  }

  @Override
  public void close() {
    stop();
    server.close();
  }
}
