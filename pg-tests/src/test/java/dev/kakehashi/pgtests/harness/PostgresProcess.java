package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// A PostgreSQL server with its own cluster and port. Used by one test class; not thread-safe except for [#connect()] and [#psql].
public final class PostgresProcess implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(3);

  private final Path home;
  private final int port;
  private @Nullable Process process;

  private PostgresProcess(Path home, int port) {
    this.home = home;
    this.port = port;
  }

  /// Makes a cluster below `home` and starts it.
  ///
  /// @param settings lines of postgresql.conf besides ports and directories
  public static PostgresProcess start(Path home, Map<String, String> settings) {
    var server = new PostgresProcess(home, freePort());
    OsProcess.runOk(
        List.of(
            bin("initdb"),
            "-D",
            server.data().toString(),
            "-U",
            "postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync"),
        Map.of(),
        START_LIMIT);
    var lines = new ArrayList<String>();
    lines.add("port = " + server.port);
    lines.add("listen_addresses = '127.0.0.1'");
    lines.add("unix_socket_directories = '" + home + "'");
    lines.add("fsync = off"); // power loss of PostgreSQL is not what is tested here
    settings.forEach((name, value) -> lines.add(name + " = '" + value.replace("'", "''") + "'"));
    try {
      Files.write(server.data().resolve("postgresql.auto.conf"), lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.start();
    return server;
  }

  /// Starts the server again, after [#stop()] or [#kill()].
  public void start() {
    Process started =
        OsProcess.startServer(List.of(bin("postgres"), "-D", data().toString()), Map.of(), log());
    process = started;
    OsProcess.awaitTrue(
        "start of PostgreSQL in " + home,
        START_LIMIT,
        () -> {
          if (!started.isAlive()) {
            throw new IllegalStateException(
                "PostgreSQL did not start: " + OsProcess.tail(log(), 20));
          }
          return isReady();
        });
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
    OsProcess.awaitTrue(
        "end of all sessions of PostgreSQL in " + home, START_LIMIT, () -> isLost(bystander));
    OsProcess.awaitTrue("recovery of PostgreSQL in " + home, START_LIMIT, this::isReady);
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
        "jdbc:postgresql://127.0.0.1:" + port + "/postgres?" + parameters, properties);
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
        home.toString(),
        "PGPORT",
        Integer.toString(port),
        "PGUSER",
        "postgres",
        "PGDATABASE",
        "postgres");
  }

  public int port() {
    return port;
  }

  private Path data() {
    return home.resolve("data");
  }

  public Path log() {
    return home.resolve("postgres.log");
  }

  /// Whether the postmaster runs.
  public boolean isAlive() {
    return process != null && process.isAlive();
  }

  /// Fast shutdown. Does nothing when the server does not run.
  public void stop() {
    Process running = process;
    if (running == null || !running.isAlive()) {
      return;
    }
    OsProcess.runOk(
        List.of(bin("pg_ctl"), "-D", data().toString(), "-m", "fast", "-w", "-t", "60", "stop"),
        Map.of(),
        START_LIMIT);
    OsProcess.awaitExit(running, START_LIMIT);
  }

  /// Kills the postmaster and all its children at once.
  public void kill() {
    Process running = process;
    if (running == null) {
      return;
    }
    List<ProcessHandle> children = running.descendants().toList();
    OsProcess.kill(running);
    children.forEach(ProcessHandle::destroyForcibly);
    OsProcess.awaitTrue(
        "end of all backends",
        START_LIMIT,
        () -> children.stream().noneMatch(ProcessHandle::isAlive));
  }

  /// Kills the postmaster alone, and waits until its children have ended by themselves.
  public void killPostmaster() {
    Process running = process;
    if (running == null) {
      return;
    }
    List<ProcessHandle> children = running.descendants().toList();
    OsProcess.kill(running);
    OsProcess.awaitTrue(
        "end of all backends without their postmaster",
        START_LIMIT,
        () -> children.stream().noneMatch(ProcessHandle::isAlive));
  }

  @Override
  public void close() {
    stop();
  }

  private static String bin(String program) {
    return Installation.postgresBinaries().resolve(program).toString();
  }

  /// Not from the range that the system gives to outgoing connections: a server that is down for a moment could not get its
  /// port back.
  private static int freePort() {
    for (int attempt = 0; attempt < 1000; attempt++) {
      int candidate = ThreadLocalRandom.current().nextInt(12_000, 32_000);
      try (var socket = new ServerSocket(candidate, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        // taken; the next one
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    throw new IllegalStateException("no free TCP port");
  }
}
