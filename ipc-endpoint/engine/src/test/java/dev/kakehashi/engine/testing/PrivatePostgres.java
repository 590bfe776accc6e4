package dev.kakehashi.engine.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Assumptions;

/// A PostgreSQL server of one's own, to compare with: a fresh cluster in a temporary directory, "C" locale, UTF-8, time zone UTC, on a free
/// port of the loopback interface.
///
/// The binaries are those of the system property `kakehashi.postgres.bin`, or of Debian's PostgreSQL 15; [#start()] skips the test when
/// they are absent. A test that runs as root runs the server as the user `postgres`. [#close()] stops the server and deletes the cluster;
/// so does the end of the JVM, also when it is killed: a process of its own waits for that.
public final class PrivatePostgres implements AutoCloseable {
  private static final Path BIN =
      Path.of(System.getProperty("kakehashi.postgres.bin", "/usr/lib/postgresql/15/bin"));
  private static final String USER = "postgres";

  /// Not `java.io.tmpdir`: where a user's tests work cannot be reached by the user `postgres`.
  private static final Path PARENT = Path.of("/tmp");

  /// Waits for the end of its input, which is that of the JVM. Arguments: the directory, then the command that stops the server.
  private static final String GUARD =
      """
      directory=$1
      shift
      cat
      if [ -e "$directory/data/postmaster.pid" ]; then "$@"; fi
      rm -rf "$directory"
      """;

  private final Path directory;
  private int port;
  private final Process guard;

  private PrivatePostgres(Path directory) throws IOException {
    this.directory = directory;
    List<String> command = new ArrayList<>(List.of("setsid", "sh", "-c", GUARD, "guard"));
    command.add(directory.toString());
    command.addAll(
        asServerUser("pg_ctl", "-D", directory.resolve("data"), "-s", "-m", "immediate", "stop"));
    guard =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
  }

  public static boolean isAvailable() {
    return Files.isExecutable(BIN.resolve("postgres"));
  }

  /// Starts a server; aborts the calling test (as skipped) when PostgreSQL is not installed.
  public static PrivatePostgres start() {
    Assumptions.assumeTrue(isAvailable(), "PostgreSQL is not installed in " + BIN);
    try {
      Path directory = Files.createTempDirectory(PARENT, "kakehashi-postgres-");
      PrivatePostgres server = new PrivatePostgres(directory);
      server.create();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // Below the ports that the kernel gives to clients: one of those could be taken before the server
  // has it.
  private static int freePort() throws IOException {
    for (int attempt = 0; attempt < 1000; attempt++) {
      int candidate = ThreadLocalRandom.current().nextInt(12_000, 32_000);
      try (ServerSocket socket = new ServerSocket(candidate, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        // taken; the next one
      }
    }
    throw new IOException("no free TCP port");
  }

  private void create() throws IOException {
    if (isRoot()) {
      execute(List.of("chown", USER, directory.toString()));
    }
    Path data = directory.resolve("data");
    port = freePort();
    run("initdb", "-D", data, "-U", USER, "-A", "trust", "--locale=C", "-E", "UTF8", "-N");
    Files.writeString(
        data.resolve("postgresql.auto.conf"),
        String.join(
            "\n",
            "listen_addresses = '127.0.0.1'",
            "port = " + port,
            "unix_socket_directories = '" + directory + "'",
            "fsync = off",
            // Estimates of small tables without statistics would have most statements compiled.
            "jit = off",
            "full_page_writes = off",
            "shared_buffers = 32MB",
            "timezone = 'UTC'",
            "datestyle = 'ISO, MDY'",
            "intervalstyle = 'postgres'",
            ""));
    // -w: returns when the server accepts connections.
    run("pg_ctl", "-D", data, "-w", "-t", "600", "-s", "-l", directory.resolve("log"), "start");
  }

  public int port() {
    return port;
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=" + USER;
  }

  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl());
  }

  @Override
  public void close() {
    try {
      guard.getOutputStream().close();
      int status = guard.waitFor();
      if (status != 0 || Files.exists(directory)) {
        throw new IllegalStateException(
            "the server in %s was not taken away: status %d".formatted(directory, status));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private void run(String program, Object... arguments) {
    execute(asServerUser(program, arguments));
  }

  private static List<String> asServerUser(String program, Object... arguments) {
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      command.addAll(
          List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--init-groups", "--"));
    }
    command.add(BIN.resolve(program).toString());
    Arrays.stream(arguments).map(Object::toString).forEach(command::add);
    return command;
  }

  private void execute(List<String> command) {
    try {
      // The server inherits the output of pg_ctl, so it must not be a pipe that is read to its end.
      Path output = Files.createTempFile(directory, "command-", ".out");
      Process process =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      int status = process.waitFor();
      String text = Files.readString(output, StandardCharsets.UTF_8);
      Files.delete(output);
      if (status != 0) {
        throw new IllegalStateException(
            String.join(" ", command) + " ended with status " + status + ": " + text);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }
}
