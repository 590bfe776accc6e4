package dev.kakehashi.server;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The real endpoint with the embedded engine as a process that can be killed and started again, in directories of its own.
///
/// Used by one thread, except [#attach()].
public final class EndpointProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 60;

  private final Path root;
  private final List<String> options;

  /// Words before its command.
  private final List<String> prefix;

  private final Map<String, String> environment;
  private @Nullable Process process;

  private EndpointProcess(
      Path root, List<String> prefix, Map<String, String> environment, List<String> options) {
    this.root = root;
    this.prefix = prefix;
    this.environment = environment;
    this.options = options;
  }

  /// @param settings each as `key=value`
  public static EndpointProcess open(String... settings) throws IOException {
    return open(Map.of(), settings);
  }

  /// @param environment variables of the process besides ours
  public static EndpointProcess open(Map<String, String> environment, String... settings)
      throws IOException {
    List<String> options = new ArrayList<>();
    for (String setting : settings) {
      options.addAll(List.of("-s", setting));
    }
    return open(List.of(), environment, options);
  }

  /// It takes SIGHUP even where this process ignores it, as below nohup, which children inherit and a JVM leaves as it is.
  ///
  /// @param config settings that can be read again
  static EndpointProcess open(Path config) throws IOException {
    return open(List.of("env", "--default-signal=HUP"), Map.of(), List.of("-c", config.toString()));
  }

  /// With a umask that opens everything to everybody.
  ///
  /// @param setting as `key=value`
  static EndpointProcess openWithoutUmask(String setting) throws IOException {
    return open(
        List.of("sh", "-c", "umask 0 && exec \"$@\"", "sh"), Map.of(), List.of("-s", setting));
  }

  private static EndpointProcess open(
      List<String> prefix, Map<String, String> environment, List<String> options)
      throws IOException {
    Path root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    EndpointProcess endpoint = new EndpointProcess(root, prefix, environment, options);
    endpoint.start();
    return endpoint;
  }

  public Path dataDirectory() {
    return root.resolve("data");
  }

  public Path runtimeDirectory() {
    return root.resolve("run");
  }

  /// Starts it (again) and waits until clients can attach.
  public void start() throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Options that Chronicle Queue and native access need, as this process has them.
      if (option.startsWith("--")) {
        command.add(option);
      }
    }
    command.addAll(
        List.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "start",
            "-D",
            dataDirectory().toString(),
            "-R",
            runtimeDirectory().toString()));
    command.addAll(options);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    Process started = builder.start();
    process = started;
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(started.getInputStream(), StandardCharsets.UTF_8));
    String line = lines.readLine();
    while (line != null && !line.equals("ready")) {
      line = lines.readLine();
    }
    if (line == null) {
      throw new AssertionError("the endpoint did not start");
    }
  }

  public Session attach() {
    return Session.attach(AttachOptions.of(runtimeDirectory()));
  }

  /// Files in a directory that it has open although they have no name any more.
  long deletedFiles(Path directory) throws IOException {
    Process running = process;
    if (running == null) {
      return 0;
    }
    Path descriptors = Path.of("/proc", Long.toString(running.pid()), "fd");
    try (Stream<Path> open = Files.list(descriptors)) {
      return open.filter(file -> target(file).startsWith(directory + "/")).count();
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      // It was closed after it had been listed.
      return "";
    }
  }

  /// Sends it a signal.
  ///
  /// @param name without SIG
  void signal(String name) throws IOException, InterruptedException {
    long pid = java.util.Objects.requireNonNull(process).pid();
    int code = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
    if (code != 0) {
      throw new AssertionError("kill ended with " + code);
    }
  }

  /// Ends it as kill -9 does.
  public void kill() {
    Process running = process;
    if (running != null) {
      // By its handle: the process object would close pipes that are still read.
      running.toHandle().destroyForcibly();
      await(running);
      process = null;
    }
  }

  /// Ends it in order.
  public void stop() {
    Process running = process;
    if (running != null) {
      running.toHandle().destroy();
      await(running);
      process = null;
    }
  }

  /// Waits until it has ended by itself.
  void awaitEnd() {
    Process running = process;
    if (running != null) {
      await(running);
      process = null;
    }
  }

  private static void await(Process process) {
    try {
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("the endpoint did not end");
      }
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted while the endpoint ends", e);
    }
  }

  @Override
  public void close() throws IOException {
    kill();
    Directories.delete(root);
  }
}
