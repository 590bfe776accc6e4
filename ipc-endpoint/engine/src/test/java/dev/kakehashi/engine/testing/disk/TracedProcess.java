package dev.kakehashi.engine.testing.disk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.testsupport.PreloadedLibrary;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Runs Java programs above the layer that writes down what they change below a directory.
public final class TracedProcess {
  private static final String MARKS = "KAKEHASHI_TRACE_MARKS";
  private static final int KILLED = 128 + 9;
  private static final long LIMIT_SECONDS = 600;

  private final Path library;
  private final Path root;
  private final Path trace;
  private final Path marks;

  /// @param work where the layer and the trace are put
  /// @param root the directory that is looked at: made here
  public TracedProcess(Path work, Path root) throws IOException, InterruptedException {
    this.root = root;
    Files.createDirectories(root);
    library = PreloadedLibrary.compile(Path.of("src/test/c/disk_trace"), work);
    trace = work.resolve("trace");
    marks = Files.createFile(work.resolve("marks"));
  }

  /// The trace of all programs so far.
  public Path trace() {
    return trace;
  }

  /// When a program is killed.
  ///
  /// @param count of events, or of synchronisations that begin; 0: it lives on
  /// @param part of the paths of the files whose synchronisations count; null: all events do
  public record Kill(long count, @Nullable String part) {
    /// It lives on.
    public static final Kill NEVER = new Kill(0, null);
  }

  /// Runs a program to its end, or until it is killed.
  ///
  /// @param options of its JVM
  /// @return whether it was killed
  public boolean run(List<String> options, Class<?> program, Kill kill, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Options that native access needs, as this process has them.
      if (option.startsWith("--")) {
        command.add(option);
      }
    }
    command.addAll(options);
    command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder
        .environment()
        .putAll(
            Map.of(
                "LD_PRELOAD",
                library.toString(),
                "KAKEHASHI_TRACE_ROOT",
                root.toString(),
                "KAKEHASHI_TRACE_FILE",
                trace.toString(),
                MARKS,
                marks.toString()));
    if (kill.count() > 0) {
      builder.environment().put("KAKEHASHI_TRACE_EVENTS", String.valueOf(kill.count()));
    }
    if (kill.part() != null) {
      builder.environment().put("KAKEHASHI_TRACE_PART", kill.part());
    }
    Process process = builder.start();
    try {
      assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS), "the program does not end");
    } finally {
      process.destroyForcibly();
    }
    int exit = process.exitValue();
    assertTrue(exit == 0 || (kill.count() > 0 && exit == KILLED), "exit " + exit);
    return exit == KILLED;
  }

  /// Marks of a program. Thread-safe.
  public static final class Marks implements AutoCloseable {
    private final FileOutputStream file;

    /// Called by the program.
    public Marks() throws IOException {
      file = new FileOutputStream(System.getenv(MARKS), true);
    }

    /// Says something, in the order of the events: what was synchronised before survives from here on.
    public void put(String what) {
      try {
        file.write((what + "\n").getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
