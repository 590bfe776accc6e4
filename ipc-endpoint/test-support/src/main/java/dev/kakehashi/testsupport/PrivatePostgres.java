package dev.kakehashi.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/// A PostgreSQL server of one's own: a fresh cluster in a directory of its own, on a free port of the loopback interface.
///
/// The binaries are those of the system property `kakehashi.postgres.bin`, or of Debian's PostgreSQL 15, where [Options#binaries] names no
/// others. A test that runs as root runs the server as another user of the system. [#close()] stops the server and deletes its directory;
/// so does the end of the JVM, also when it is killed: a process of its own waits for that.
///
/// Used by one thread, except for what opens connections.
public final class PrivatePostgres implements AutoCloseable {
  private static final Path BIN =
      Path.of(System.getProperty("kakehashi.postgres.bin", "/usr/lib/postgresql/15/bin"));

  /// The superuser.
  private static final String USER = "postgres";

  /// Not `java.io.tmpdir`: where a user's tests work cannot be reached by another user.
  private static final Path PARENT = Path.of("/tmp");

  /// Waits for the end of its input, which is that of the JVM. Arguments: the directory, its fate, then the command that stops the server.
  private static final String GUARD =
      """
      directory=$1
      fate=$2
      shift 2
      cat
      if [ -e "$directory/data/postmaster.pid" ]; then "$@"; fi
      [ "$fate" = keep ] || rm -rf "$directory"
      """;

  /// The line of `postmaster.pid` with the state, counted from 0.
  private static final int STATE_LINE = 7;

  private final Options options;
  private final Path directory;
  private final int port = FreePorts.next();
  private final Process guard;
  private final ServerProcess postmaster;

  private PrivatePostgres(Options options, Path directory) throws IOException {
    this.options = options;
    this.directory = directory;
    String fate = options.home == null ? "delete" : "keep";
    List<String> command =
        new ArrayList<>(List.of("setsid", "sh", "-c", GUARD, "guard", directory.toString(), fate));
    command.addAll(asServerUser("pg_ctl", "-D", data(), "-s", "-m", "immediate", "stop"));
    guard =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    postmaster =
        new ServerProcess(
            "PostgreSQL in " + directory, asServerUser("postgres", "-D", data()), Map.of(), log());
  }

  /// Whether there are binaries where [#start()] looks for them.
  public static boolean isAvailable() {
    return Files.isExecutable(BIN.resolve("postgres"));
  }

  /// Starts a small server to compare with; aborts the calling test (as skipped) when PostgreSQL is not installed.
  public static PrivatePostgres start() {
    Assumptions.assumeTrue(isAvailable(), "PostgreSQL is not installed in " + BIN);
    return new Options().small().start();
  }

  /// How a server is made. Each method returns the object itself.
  public static final class Options {
    private final List<String> settings = new ArrayList<>();
    private final Map<String, String> files = new TreeMap<>();
    private @Nullable Path home;
    private Path binaries = BIN;
    private String osUser = USER;
    private String locale = "C";
    private String hostAuthentication = "trust";

    /// Directory of the programs.
    public Options binaries(Path directory) {
      binaries = directory;
      return this;
    }

    /// An existing directory of the server's OS user, which the caller deletes.
    public Options home(Path directory) {
      home = directory;
      return this;
    }

    /// The user of the system, if the test runs as root.
    public Options osUser(String name) {
      osUser = name;
      return this;
    }

    /// The locale, "C" otherwise.
    public Options locale(String name) {
      locale = name;
      return this;
    }

    /// How clients of the loopback interface prove who they are, `trust` otherwise.
    public Options hostAuthentication(String method) {
      hostAuthentication = method;
      return this;
    }

    /// Little memory, nothing compiled, time zone UTC, the usual forms of dates and intervals.
    public Options small() {
      return settings(
          "shared_buffers = 32MB",
          "full_page_writes = off",
          // Estimates of small tables without statistics would have most statements compiled.
          "jit = off",
          "timezone = 'UTC'",
          "datestyle = 'ISO, MDY'",
          "intervalstyle = 'postgres'");
    }

    /// Lines of its configuration; later ones count.
    public Options settings(String... lines) {
      settings.addAll(List.of(lines));
      return this;
    }

    /// A file of its data directory that nobody else reads.
    public Options file(String name, String content) {
      files.put(name, content);
      return this;
    }

    /// Makes the cluster and starts it; returns when it takes connections.
    public PrivatePostgres start() {
      try {
        Path given = home;
        Path directory =
            given == null ? Files.createTempDirectory(PARENT, "kakehashi-postgres-") : given;
        PrivatePostgres server = new PrivatePostgres(this, directory);
        boolean started = false;
        try {
          server.create();
          started = true;
        } finally {
          if (!started) {
            server.close();
          }
        }
        return server;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void create() throws IOException {
    if (isRoot() && options.home == null) {
      execute(List.of("chown", options.osUser, directory.toString()));
    }
    run(
        "initdb",
        "-D",
        data(),
        "-U",
        USER,
        "--auth-local=trust",
        "--auth-host=" + options.hostAuthentication,
        "--locale=" + options.locale,
        "-E",
        "UTF8",
        "-N");
    List<String> lines =
        new ArrayList<>(
            List.of(
                "listen_addresses = '127.0.0.1'",
                "port = " + port,
                "unix_socket_directories = '" + directory + "'",
                // Power loss is not what is tested here.
                "fsync = off"));
    lines.addAll(options.settings);
    Files.write(data().resolve("postgresql.auto.conf"), lines);
    for (Map.Entry<String, String> file : options.files.entrySet()) {
      Path path = data().resolve(file.getKey());
      Files.deleteIfExists(path);
      Files.writeString(ofOwner(path), file.getValue());
      if (isRoot()) {
        execute(List.of("chown", options.osUser, path.toString()));
      }
    }
    startAgain();
  }

  /// Makes an empty file that its owner alone reads.
  public static Path ofOwner(Path file) throws IOException {
    return Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  /// Starts it after [#stop()] or [#kill()]; returns when it takes connections.
  public void startAgain() {
    postmaster.start();
    postmaster.awaitReady(this::isReady);
  }

  // As pg_ctl does. The file may be that of a server that was killed.
  private boolean isReady() {
    try {
      List<String> lines = Files.readAllLines(data().resolve("postmaster.pid"));
      return lines.size() > STATE_LINE
          && lines.getFirst().equals(Long.toString(postmaster.pid()))
          && lines.get(STATE_LINE).strip().equals("ready");
    } catch (IOException e) {
      return false; // not there yet
    }
  }

  public int port() {
    return port;
  }

  /// The directory of the cluster, its socket and its log.
  public Path directory() {
    return directory;
  }

  /// The server's output.
  public Path log() {
    return directory.resolve("postgres.log");
  }

  private Path data() {
    return directory.resolve("data");
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=" + USER;
  }

  /// A session of the superuser with the database `postgres`. PostgreSQL's driver is on the caller's class path.
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl());
  }

  /// Runs a statement as superuser, in the database `postgres`.
  public void psql(String sql) {
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
        "-U",
        USER,
        "-d",
        "postgres",
        "-c",
        sql);
  }

  /// Whether the postmaster runs.
  public boolean isAlive() {
    return postmaster.isAlive();
  }

  /// Fast shutdown. Does nothing when the server does not run.
  public void stop() {
    if (postmaster.isAlive()) {
      postmaster.signal("INT");
      postmaster.awaitEnd();
    }
  }

  /// Ends its processes as `kill -9` does.
  public void kill() {
    postmaster.killAll();
    try {
      // Its number may be that of another process by the next start.
      Files.deleteIfExists(data().resolve("postmaster.pid"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Kills the postmaster alone, and waits until its children have ended by themselves.
  public void killPostmaster() {
    postmaster.killParent();
  }

  /// A command of the shell that does what [#kill()] and [#startAgain()] do. From then on the server is no child of this process:
  /// [#close()] alone ends it.
  public String crashCommand() {
    // Not the log of the first start, which is this process's.
    Path log = directory.resolve("crashed.log");
    List<String> start = asServerUser("pg_ctl", "-D", data(), "-w", "-s", "-l", log, "start");
    return """
    postmaster=$(head -1 %1$s/postmaster.pid)
    all="$postmaster $(pgrep -P "$postmaster" | tr '\\n' ' ')"
    kill -KILL $all
    for each in $all; do while kill -0 "$each"; do sleep 0.02; done; done 2>/dev/null
    rm -f %1$s/postmaster.pid
    exec %2$s >/dev/null 2>&1
    """
        .formatted(data(), String.join(" ", start));
  }

  @Override
  public void close() {
    try {
      guard.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int status = ServerProcess.awaitExit("the guard of " + directory, guard, Await.LIMIT);
    if (status != 0 || (options.home == null && Files.exists(directory))) {
      throw new IllegalStateException(
          "the server in %s was not taken away: status %d".formatted(directory, status));
    }
  }

  private void run(String program, Object... arguments) {
    execute(asServerUser(program, arguments));
  }

  private List<String> asServerUser(String program, Object... arguments) {
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      String user = options.osUser;
      command.addAll(
          List.of("setpriv", "--reuid=" + user, "--regid=" + user, "--init-groups", "--"));
    }
    command.add(options.binaries.resolve(program).toString());
    Arrays.stream(arguments).map(Object::toString).forEach(command::add);
    return command;
  }

  private void execute(List<String> command) {
    try {
      // A server may inherit the output, so it must not be a pipe that is read to its end.
      Path output = Files.createTempFile(directory, "command-", ".out");
      Process process =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      int status = ServerProcess.awaitExit(command.toString(), process, Await.LIMIT);
      String text = Files.readString(output);
      Files.delete(output);
      if (status != 0) {
        throw new IllegalStateException(
            String.join(" ", command) + " ended with status " + status + ": " + text);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }
}
