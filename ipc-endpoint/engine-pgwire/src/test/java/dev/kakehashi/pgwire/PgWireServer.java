package dev.kakehashi.pgwire;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/// A private PostgreSQL with a database "kakehashi", whose user "kakehashi" needs a password. It ends with the JVM, also when that is
/// killed.
///
/// The binaries are those of `-Dkakehashi.postgres.bin`, or of Debian's PostgreSQL 15. As root it runs as the user `postgres`.
final class PgWireServer {
  static final String USER = "kakehashi";
  static final String PASSWORD = "secret, of a test";

  private static final Path BIN =
      Path.of(System.getProperty("kakehashi.postgres.bin", "/usr/lib/postgresql/15/bin"));
  private static final String OS_USER = "postgres";

  /// Not `java.io.tmpdir`, which the user `postgres` may not reach.
  private static final Path PARENT = Path.of("/tmp");

  private static final String GUARD =
      """
      directory=$1
      shift
      cat
      if [ -e "$directory/data/postmaster.pid" ]; then "$@"; fi
      rm -rf "$directory"
      """;

  private final Path directory;
  private final Process guard;
  private int port;

  private PgWireServer(Path directory) throws IOException {
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

  static boolean isAvailable() {
    return Files.isExecutable(BIN.resolve("postgres"));
  }

  /// Makes and starts one.
  ///
  /// @param settings lines of its configuration besides
  static PgWireServer start(String... settings) throws IOException, InterruptedException {
    return start(Map.of(), settings);
  }

  /// Makes and starts one.
  ///
  /// @param files of its data directory by name, which nobody else reads
  /// @param settings lines of its configuration besides
  static PgWireServer start(Map<String, String> files, String... settings)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory(PARENT, "kakehashi-pgwire-");
    PgWireServer server = new PgWireServer(directory);
    server.create(files, settings);
    return server;
  }

  private void create(Map<String, String> files, String... settings)
      throws IOException, InterruptedException {
    if (isRoot()) {
      execute(List.of("chown", OS_USER, directory.toString()));
    }
    Path data = directory.resolve("data");
    port = freePort();
    run(
        "initdb",
        "-D",
        data,
        "-U",
        OS_USER,
        "--auth-local=trust",
        "--auth-host=scram-sha-256",
        "--locale=C",
        "-E",
        "UTF8",
        "-N");
    List<String> lines =
        new ArrayList<>(
            List.of(
                "listen_addresses = '127.0.0.1'",
                "port = " + port,
                "unix_socket_directories = '" + directory + "'",
                "fsync = off",
                "full_page_writes = off",
                "jit = off",
                "shared_buffers = 32MB",
                "max_prepared_transactions = 20",
                "max_connections = 100"));
    lines.addAll(List.of(settings));
    Files.write(data.resolve("postgresql.auto.conf"), lines);
    for (Map.Entry<String, String> file : files.entrySet()) {
      Path path = data.resolve(file.getKey());
      Files.deleteIfExists(path);
      Files.writeString(ofOwner(path), file.getValue());
      if (isRoot()) {
        execute(List.of("chown", OS_USER, path.toString()));
      }
    }
    restart();
    psql("CREATE ROLE " + USER + " LOGIN PASSWORD '" + PASSWORD + "'");
    psql("GRANT pg_signal_backend, pg_read_all_stats TO " + USER);
    psql("CREATE DATABASE kakehashi OWNER " + USER);
  }

  /// Starts it; returns when it takes connections.
  void restart() throws IOException, InterruptedException {
    run(
        "pg_ctl",
        "-D",
        directory.resolve("data"),
        "-w",
        "-t",
        "600",
        "-s",
        "-l",
        directory.resolve("log"),
        "start");
  }

  /// Ends its processes as `kill -9` does.
  void kill() throws IOException, InterruptedException {
    Path file = directory.resolve("data/postmaster.pid");
    long pid = Long.parseLong(Files.readAllLines(file).getFirst());
    ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
    List<ProcessHandle> all = new ArrayList<>(postmaster.descendants().toList());
    all.add(postmaster);
    all.forEach(ProcessHandle::destroyForcibly);
    for (ProcessHandle each : all) {
      each.onExit().join();
    }
    Files.deleteIfExists(file);
  }

  /// A command of the shell that does what [#kill()] and [#restart()] do.
  String crashCommand() {
    String data = directory.resolve("data").toString();
    List<String> start =
        asServerUser("pg_ctl", "-D", data, "-w", "-s", "-l", directory.resolve("log"), "start");
    return """
    postmaster=$(head -1 %1$s/postmaster.pid)
    all="$postmaster $(pgrep -P "$postmaster" | tr '\\n' ' ')"
    kill -KILL $all
    for each in $all; do while kill -0 "$each"; do sleep 0.02; done; done 2>/dev/null
    rm -f %1$s/postmaster.pid
    exec %2$s >/dev/null 2>&1
    """
        .formatted(data, String.join(" ", start));
  }

  /// Runs a statement as superuser, in the database `postgres`.
  void psql(String sql) throws IOException, InterruptedException {
    run(
        "psql",
        "-X",
        "-q",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        directory,
        "-p",
        port,
        "-d",
        "postgres",
        "-c",
        sql);
  }

  int port() {
    return port;
  }

  /// A file of the server's own directory with the password.
  Path passwordFile() throws IOException {
    Path file = directory.resolve("password");
    if (!Files.exists(file)) {
      Files.writeString(ofOwner(file), PASSWORD + "\n");
    }
    return file;
  }

  private static Path ofOwner(Path file) throws IOException {
    return Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  void close() throws IOException, InterruptedException {
    guard.getOutputStream().close();
    int status = guard.waitFor();
    if (status != 0 || Files.exists(directory)) {
      throw new IllegalStateException("the server in " + directory + " was not taken away");
    }
  }

  // Below the ports that the kernel gives to clients.
  private static int freePort() throws IOException {
    for (int attempt = 0; attempt < 1000; attempt++) {
      int candidate = ThreadLocalRandom.current().nextInt(12_000, 32_000);
      try (ServerSocket socket = new ServerSocket(candidate, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        // taken: the next one
      }
    }
    throw new IOException("no free TCP port");
  }

  private void run(String program, Object... arguments) throws IOException, InterruptedException {
    execute(asServerUser(program, arguments));
  }

  private static List<String> asServerUser(String program, Object... arguments) {
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      command.addAll(
          List.of("setpriv", "--reuid=" + OS_USER, "--regid=" + OS_USER, "--init-groups", "--"));
    }
    command.add(BIN.resolve(program).toString());
    Arrays.stream(arguments).map(Object::toString).forEach(command::add);
    return command;
  }

  private void execute(List<String> command) throws IOException, InterruptedException {
    // The server inherits the output of pg_ctl, so it is no pipe that is read to its end.
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
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }
}
