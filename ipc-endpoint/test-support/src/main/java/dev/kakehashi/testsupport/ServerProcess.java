package dev.kakehashi.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A server that a test starts, stops, kills and starts again: an endpoint, a PostgreSQL.
///
/// Used by one thread, except for [#kill()], [#pid()] and [#isAlive()]. The caller ends it.
public final class ServerProcess implements AutoCloseable {
  private static final int SHOWN_LINES = 40;

  private final String name;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Path log;
  private final boolean logsErrors;

  /// Written by the thread that starts it, read by those that kill it.
  private volatile @Nullable Process process;

  /// Bytes of the log when this process was started.
  private long logBefore;

  /// @param name of the server, for messages
  /// @param command with its arguments. Words before the program (`setpriv`, `env`, `sh -c`) replace themselves by it, so that the
  ///     process is the server itself
  /// @param environment variables besides ours
  /// @param log file to which output and errors are appended
  public ServerProcess(
      String name, List<String> command, Map<String, String> environment, Path log) {
    this(name, command, environment, log, true);
  }

  private ServerProcess(
      String name,
      List<String> command,
      Map<String, String> environment,
      Path log,
      boolean logsErrors) {
    this.name = name;
    this.command = List.copyOf(command);
    this.environment = Map.copyOf(environment);
    this.log = log;
    this.logsErrors = logsErrors;
  }

  /// One whose errors go where ours go: they are of use after the log is gone.
  ///
  /// @param log file to which output alone is appended
  public static ServerProcess withOurErrors(
      String name, List<String> command, Map<String, String> environment, Path log) {
    return new ServerProcess(name, command, environment, log, false);
  }

  /// Starts it (again), without waiting until it is ready.
  public void start() {
    logBefore = log.toFile().length();
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(Path.of("/").toFile())
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .redirectInput(Path.of("/dev/null").toFile());
    if (logsErrors) {
      builder.redirectErrorStream(true);
    } else {
      builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    }
    builder.environment().putAll(environment);
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Waits until a condition holds while the server runs.
  ///
  /// @throws AssertionError when it ends before, with the end of its log, or after [Await#LIMIT]
  public void awaitReady(BooleanSupplier ready) {
    Await.until(
        "start of " + name,
        () -> {
          if (!isAlive()) {
            throw new AssertionError(name + " did not start: " + tail(log, SHOWN_LINES));
          }
          return ready.getAsBoolean();
        });
  }

  /// Whether it has written a line since its last start.
  public boolean hasLogged(String line) {
    return sinceStart().lines().anyMatch(line::equals);
  }

  /// Text that it has written since its last start.
  public String sinceStart() {
    try {
      byte[] all = Files.readAllBytes(log);
      int begin = (int) Math.min(logBefore, all.length);
      return new String(all, begin, all.length - begin, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public boolean isAlive() {
    Process running = process;
    return running != null && running.isAlive();
  }

  /// @throws IllegalStateException when it was never started
  public long pid() {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException(name + " was never started");
    }
    return running.pid();
  }

  /// Sends it a signal.
  ///
  /// @param signal name without SIG
  public void signal(String signal) {
    try {
      int status = new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start().waitFor();
      if (status != 0) {
        throw new AssertionError("kill -%s of %s ended with %d".formatted(signal, name, status));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + name + " gets a signal", e);
    }
  }

  /// Ends it in order, by SIGTERM. Does nothing when it does not run.
  public void stop() {
    Process running = process;
    if (running != null && running.isAlive()) {
      running.destroy();
      awaitEnd(running);
    }
  }

  /// Ends it as `kill -9` does, and waits until it is gone.
  public void kill() {
    Process running = process;
    if (running != null) {
      running.destroyForcibly();
      awaitEnd(running);
    }
  }

  /// Ends it and all its children as `kill -9` does.
  public void killAll() {
    List<ProcessHandle> children = children();
    kill();
    children.forEach(ProcessHandle::destroyForcibly);
    awaitGone(children);
  }

  /// Kills it alone, and waits until its children have ended by themselves.
  public void killParent() {
    List<ProcessHandle> children = children();
    kill();
    awaitGone(children);
  }

  private List<ProcessHandle> children() {
    Process running = process;
    return running == null ? List.of() : running.descendants().toList();
  }

  private void awaitGone(List<ProcessHandle> children) {
    Await.until(
        "end of the children of " + name,
        () -> children.stream().noneMatch(ProcessHandle::isAlive));
  }

  /// Waits until it has ended by itself.
  ///
  /// @return its exit status; -1: it was never started
  public int awaitEnd() {
    Process running = process;
    return running == null ? -1 : awaitEnd(running);
  }

  private int awaitEnd(Process running) {
    return awaitExit(name, running, Await.LIMIT);
  }

  /// Waits for the end of any process.
  ///
  /// @param name for messages
  /// @throws AssertionError when it still runs after the limit
  public static int awaitExit(String name, Process running, Duration limit) {
    try {
      if (!running.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError(
            "%s (process %d) still runs after %s".formatted(name, running.pid(), limit));
      }
      return running.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + name + " ends", e);
    }
  }

  @Override
  public void close() {
    kill();
  }

  /// The end of a log file, for messages.
  public static String tail(Path log, int lines) {
    try {
      List<String> all = new ArrayList<>(Files.readAllLines(log));
      return String.join("\n", all.subList(Math.max(0, all.size() - lines), all.size()));
    } catch (IOException e) {
      return "(no log: " + e.getMessage() + ")";
    }
  }
}
