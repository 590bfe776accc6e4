package dev.kakehashi.server;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.testsupport.ServerProcess;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The real endpoint with the embedded engine as a process that can be killed and started again, in directories of its own.
///
/// Used by one thread, except [#attach()].
public final class EndpointProcess implements AutoCloseable {
  private final Path root;
  private final ServerProcess process;

  /// @param prefix words before its command
  private EndpointProcess(
      Path root, List<String> prefix, Map<String, String> environment, List<String> options) {
    this.root = root;
    List<String> command = new ArrayList<>(prefix);
    command.addAll(javaCommand());
    command.addAll(
        List.of("start", "-D", dataDirectory().toString(), "-R", runtimeDirectory().toString()));
    command.addAll(options);
    process =
        ServerProcess.withOurErrors(
            "the endpoint", command, environment, root.resolve("endpoint.out"));
  }

  /// The command `kakehashi` of this build, without its words.
  public static List<String> javaCommand() {
    List<String> command = new ArrayList<>();
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
            Main.class.getName()));
    return command;
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

  /// One that is not started yet, so that its data directory can be made before.
  ///
  /// @param settings each as `key=value`
  public static EndpointProcess prepare(String... settings) throws IOException {
    List<String> options = new ArrayList<>();
    for (String setting : settings) {
      options.addAll(List.of("-s", setting));
    }
    return new EndpointProcess(
        Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-"),
        List.of(),
        Map.of(),
        options);
  }

  /// The same with settings of a file, which may be another one at the next start.
  public static EndpointProcess prepare(Path config) throws IOException {
    return prepare(Map.of(), config);
  }

  /// @param environment variables of the process besides ours
  public static EndpointProcess prepare(Map<String, String> environment, Path config)
      throws IOException {
    return new EndpointProcess(
        Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-"),
        List.of(),
        environment,
        List.of("-c", config.toString()));
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
  public void start() {
    process.start();
    process.awaitReady(() -> process.hasLogged("ready"));
  }

  public Session attach() {
    return Session.attach(AttachOptions.of(runtimeDirectory()));
  }

  /// Runs a command about it.
  public Command ask(String... command) {
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(List.of("-D", dataDirectory().toString(), "-R", runtimeDirectory().toString()));
    return Command.run(words.toArray(String[]::new));
  }

  /// Files in a directory that it has open although they have no name any more.
  long deletedFiles(Path directory) throws IOException {
    Path descriptors = Path.of("/proc", Long.toString(process.pid()), "fd");
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
  void signal(String name) {
    process.signal(name);
  }

  /// Ends it as kill -9 does.
  public void kill() {
    process.kill();
  }

  /// Ends it in order.
  public void stop() {
    process.stop();
  }

  /// Waits until it has ended by itself.
  ///
  /// @return its exit status
  public int awaitEnd() {
    return process.awaitEnd();
  }

  @Override
  public void close() throws IOException {
    kill();
    Directories.delete(root);
  }
}
