package dev.kakehashi.pgtests.harness;

import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// An endpoint process with its own runtime and data directories. Used by one thread, except for [#kill()].
public final class EndpointProcess implements AutoCloseable {
  private static final Pattern HTTP_LISTENS =
      Pattern.compile("HTTP listens on .*?(http://127\\.0\\.0\\.1:\\d+)");

  /// The setting of an endpoint whose engine lacks what a file says; the environment variable [#WITHHELD] names it.
  public static final String TEST_ENGINE = "engine=withholding";

  /// Environment variable: path of the file.
  public static final String WITHHELD = "KAKEHASHI_WITHHELD";

  /// The setting of an endpoint whose rows another PostgreSQL keeps; it starts and ends with the endpoint.
  public static final String OVER_POSTGRES = EngineServer.SETTING;

  private final Path runtimeDirectory;
  private final Path dataDirectory;
  private final Path log;
  private final List<String> settings;
  private final @Nullable EngineServer engineServer;
  private final ServerProcess process;

  private EndpointProcess(
      Path runtimeDirectory,
      Path dataDirectory,
      Path log,
      List<String> prefix,
      List<String> settings,
      @Nullable EngineServer engineServer) {
    this.runtimeDirectory = runtimeDirectory;
    this.dataDirectory = dataDirectory;
    this.log = log;
    this.settings = settings;
    this.engineServer = engineServer;
    List<String> command = new ArrayList<>(prefix);
    command.addAll(command("start"));
    process = new ServerProcess("the endpoint in " + runtimeDirectory, command, Map.of(), log);
  }

  /// Starts an endpoint.
  ///
  /// @param runtimeDirectory made by the endpoint
  /// @param home existing directory on disk; the data directory and the log are made in it
  /// @param settings further `name=value` settings of the endpoint; [#OVER_POSTGRES] makes a server for its rows, too
  public static EndpointProcess start(Path runtimeDirectory, Path home, String... settings) {
    return startWith(Map.of(), runtimeDirectory, home, settings);
  }

  /// The same with an environment of its own.
  public static EndpointProcess startWith(
      Map<String, String> environment, Path runtimeDirectory, Path home, String... settings) {
    var prefix = new ArrayList<>(Installation.asServerUser());
    prefix.add("env");
    environment.forEach((name, value) -> prefix.add(name + "=" + value));
    return startAs(prefix, runtimeDirectory, home, settings);
  }

  /// The same with a prefix of its command that decides as which OS user; see [Installation#asUser].
  public static EndpointProcess startAs(
      List<String> prefix, Path runtimeDirectory, Path home, String... settings) {
    var all = new ArrayList<>(List.of(settings));
    EngineServer engineServer = EngineServer.forEndpoint(home, all);
    if (engineServer != null) {
      all.remove(EngineServer.SETTING);
      all.addAll(engineServer.endpointSettings());
    }
    var endpoint =
        new EndpointProcess(
            runtimeDirectory,
            home.resolve("endpoint"),
            home.resolve("endpoint.log"),
            prefix,
            all,
            engineServer);
    boolean started = false;
    try {
      endpoint.start();
      started = true;
    } finally {
      if (!started && engineServer != null) {
        engineServer.close();
      }
    }
    return endpoint;
  }

  /// Starts it again, after [#stop()] or [#kill()], and waits until clients can attach.
  public void start() {
    launch();
    awaitReady();
  }

  /// Starts it without waiting.
  public void launch() {
    process.start();
  }

  /// Waits until clients can attach.
  public void awaitReady() {
    // The socket is the last thing that an incarnation makes.
    Path socket = runtimeDirectory.resolve("endpoint.sock");
    process.awaitReady(() -> ProcessSockets.listens(process.pid(), socket));
  }

  private List<String> command(String verb) {
    var command = new ArrayList<>(Installation.endpointJvm());
    command.add("-Xmx512m");
    if (settings.contains(TEST_ENGINE)) {
      command.add("-cp");
      command.add(Installation.endpointJar() + ":" + Installation.testEngine());
      command.add("dev.kakehashi.server.Main");
    } else {
      command.add("-jar");
      command.add(Installation.endpointJar().toString());
    }
    command.add(verb);
    command.add("--runtime-directory");
    command.add(runtimeDirectory.toString());
    command.add("--data-directory");
    command.add(dataDirectory.toString());
    for (String setting : settings) {
      command.add("--set");
      command.add(setting);
    }
    return command;
  }

  /// Where HTTP is reached on 127.0.0.1; waits for it. The endpoint was started with the setting `http_port`.
  public URI httpUri() {
    URI[] found = new URI[1];
    Await.until(
        "HTTP of the endpoint in " + runtimeDirectory,
        () -> {
          Matcher listens = HTTP_LISTENS.matcher(process.sinceStart());
          if (listens.find()) {
            found[0] = URI.create(listens.group(1));
          }
          return found[0] != null;
        });
    return found[0];
  }

  public Path runtimeDirectory() {
    return runtimeDirectory;
  }

  public Path dataDirectory() {
    return dataDirectory;
  }

  public Path log() {
    return log;
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public long pid() {
    return process.pid();
  }

  /// Open file descriptors, for leak tests.
  public long openFiles() {
    return ProcessMemory.openFiles(pid());
  }

  /// Resources that the endpoint has in use; up to a second old.
  public EndpointUsage usage() {
    return EndpointUsage.read(runtimeDirectory);
  }

  /// Waits for figures that were taken after now.
  public EndpointUsage freshUsage() {
    // The first heartbeat from now on may come from a turn that began before.
    EndpointUsage usage = nextUsage(usage().heartbeatNanos());
    return nextUsage(usage.heartbeatNanos());
  }

  private EndpointUsage nextUsage(long after) {
    Await.until("heartbeat of the endpoint", () -> usage().heartbeatNanos() != after);
    return usage();
  }

  /// Waits until so many sessions are attached, and nothing but their mailboxes is held: no request, no buffer, no
  /// transaction.
  public void awaitQuiet(int sessions) {
    try {
      Await.until(
          "release of everything but the mailboxes of " + sessions + " sessions",
          () -> freshUsage().isQuiet(sessions));
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + "; the endpoint has " + usage(), e);
    }
  }

  /// Words that run the endpoint's program, before its command.
  public static List<String> program() {
    var program = new ArrayList<>(Installation.endpointJvm());
    program.addAll(List.of("-jar", Installation.endpointJar().toString()));
    return program;
  }

  /// Runs another command of the endpoint's program on the same directories.
  ///
  /// @return its output
  /// @throws IllegalStateException when it fails
  public String command(String input, String... words) {
    var command = new ArrayList<>(program());
    command.addAll(List.of(words));
    command.addAll(
        List.of(
            "--runtime-directory",
            runtimeDirectory.toString(),
            "--data-directory",
            dataDirectory.toString()));
    OsProcess.Outcome outcome = OsProcess.run(command, Map.of(), input, Duration.ofMinutes(2));
    if (outcome.exitCode() != 0) {
      throw new IllegalStateException(
          List.of(words) + " ended with " + outcome.exitCode() + ": " + outcome.output());
    }
    return outcome.output();
  }

  /// Orderly shutdown. Does nothing when the endpoint does not run.
  public void stop() {
    process.stop();
  }

  /// SIGSTOP: it hangs until [#resume()].
  public void pause() {
    process.signal("STOP");
  }

  public void resume() {
    process.signal("CONT");
  }

  /// SIGKILL.
  public void kill() {
    process.kill();
  }

  @Override
  public void close() {
    try {
      stop();
    } finally {
      if (engineServer != null) {
        engineServer.close();
      }
    }
  }
}
