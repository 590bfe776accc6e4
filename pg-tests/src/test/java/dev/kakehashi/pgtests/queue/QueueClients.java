package dev.kakehashi.pgtests.queue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/// Processes that make and take tasks of the queue `work`; each tells a history what it does. Used by one thread; the processes' output is
/// read by threads of their own.
final class QueueClients implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Pattern WORDS =
      Pattern.compile("\\b((?:sent|done) \\d+|got \\d+ \\d+|failed .*)$");

  /// Errors of psql, but for those that tell of a server that is gone.
  private static final Pattern ERROR =
      Pattern.compile("(?:ERROR|FATAL):  (?!08|57P|55K01)[0-9A-Z]{5}:.*");

  /// Between the numbers of one producer and those of the next one.
  private static final long NUMBERS = 10_000_000;

  private final Cluster cluster;
  private final Path socket;
  private final TaskHistory history;
  private final Path directory;
  private final Map<String, Process> processes = new HashMap<>();
  private final List<Thread> readers = new ArrayList<>();
  private int started;

  QueueClients(Cluster cluster, Path socket, TaskHistory history) throws IOException {
    this.cluster = cluster;
    this.socket = socket;
    this.history = history;
    directory = cluster.workspace().newDiskDirectory("clients");
    compile();
    copy("queue-client.sh");
  }

  private Path copy(String name) throws IOException {
    Path target = directory.resolve(name);
    try (InputStream source =
        Objects.requireNonNull(QueueClients.class.getResourceAsStream("/" + name))) {
      Files.copy(source, target);
    }
    return target;
  }

  private void compile() throws IOException {
    Path source = copy("QueueClient.java");
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-cp", library(), "-d", directory.toString(), source.toString());
    if (code != 0) {
      throw new IllegalStateException("QueueClient.java does not compile");
    }
  }

  private static String library() {
    return Installation.runDirectory().resolve("lib/kakehashi-tools.jar").toString();
  }

  /// Starts a client, if it does not run.
  ///
  /// @param kind java, psql, http: consumers; javaProducer, psqlProducer
  void start(String kind) {
    Process before = processes.get(kind);
    if (before != null && before.isAlive()) {
      return;
    }
    int number = ++started;
    long first = number * NUMBERS;
    List<String> command = new ArrayList<>(Installation.asServerUser());
    command.addAll(
        switch (kind) {
          case "java" -> java("consume");
          case "javaProducer" -> java("produce", Long.toString(first));
          case "http" ->
              List.of(
                  "sh",
                  directory.resolve("queue-client.sh").toString(),
                  socket.toString(),
                  directory.resolve("headers" + number).toString());
          case "psql" -> psql("CALL consume()");
          case "psqlProducer" -> psql("CALL produce(" + first + ")");
          default -> throw new IllegalArgumentException(kind);
        });
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(Path.of("/").toFile()).redirectErrorStream(true);
    builder.redirectInput(Path.of("/dev/null").toFile());
    builder.environment().putAll(cluster.postgres().environment());
    try {
      Process process = builder.start();
      processes.put(kind, process);
      readers.add(Thread.startVirtualThread(() -> read(kind, process)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> java(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Installation.java().toString(),
                "@" + Installation.jvmOptions(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                library() + ":" + directory,
                "QueueClient",
                cluster.endpoint().runtimeDirectory().toString()));
    command.addAll(List.of(arguments));
    return command;
  }

  private static List<String> psql(String sql) {
    return List.of("psql", "-X", "-q", "-v", "VERBOSITY=verbose", "-c", sql);
  }

  private void read(String kind, Process process) {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher words = WORDS.matcher(line);
        if (words.find()) {
          history.line(kind, words.group(1));
        } else if (ERROR.matcher(line).find()) {
          history.line(kind, "failed " + line);
        }
      }
    } catch (IOException e) {
      history.line(kind, "failed " + e);
    }
  }

  /// SIGKILL, with the processes that it has started.
  void kill(String kind) {
    Process process = processes.get(kind);
    if (process != null) {
      List<ProcessHandle> children = process.descendants().toList();
      process.toHandle().destroyForcibly(); // what it has said can still be read
      children.forEach(ProcessHandle::destroyForcibly);
      OsProcess.awaitExit(process, LIMIT);
    }
  }

  /// Kills all that is left of one kind, and waits until everything that it has said is heard.
  @Override
  public void close() {
    for (String kind : List.copyOf(processes.keySet())) {
      kill(kind);
    }
    for (Thread each : readers) {
      try {
        if (!each.join(LIMIT)) {
          throw new IllegalStateException("the output of a client does not end");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      }
    }
  }
}
