package dev.kakehashi.pgtests.container;

import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Volume;
import dev.kakehashi.pgtests.harness.Installation;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.testcontainers.containers.Container;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/// A container with PostgreSQL and one with the endpoint; they share a volume in memory and neither network nor process
/// identifiers.
final class ContainerPair implements AutoCloseable {
  static final String RUNTIME_DIR = "/run/kakehashi/test";

  static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final int VOLUME_MEGABYTES = 256;

  private final String volume = "kakehashi-test-" + UUID.randomUUID();
  private final GenericContainer<?> endpoint;
  private final GenericContainer<?> postgres;

  ContainerPair(String base, String suite, int postgresMajor) {
    Docker.createMemoryVolume(volume, VOLUME_MEGABYTES);
    endpoint =
        new GenericContainer<>(Docker.endpointImage(Docker.endpointSuite(suite)))
            .withCreateContainerCmdModifier(
                command -> bind(command.getHostConfig(), Docker.jdkDirectories()))
            .withCommand(endpointCommand())
            .waitingFor(
                Wait.forSuccessfulCommand("test -S " + RUNTIME_DIR + "/endpoint.sock")
                    .withStartupTimeout(START_LIMIT));
    postgres =
        new GenericContainer<>(Docker.postgresImage(base, suite, postgresMajor))
            .withCreateContainerCmdModifier(command -> bind(command.getHostConfig(), List.of()))
            .withExposedPorts(5432)
            .waitingFor(
                Wait.forLogMessage(".*database system is ready to accept connections.*", 1)
                    .withStartupTimeout(START_LIMIT));
  }

  private static String[] endpointCommand() {
    List<String> command =
        new ArrayList<>(
            List.of(
                Docker.jdkDirectories().getFirst() + "/bin/java",
                "@/opt/kakehashi/jvm.options",
                // Its directory for temporary files is one of the host.
                "-Djava.io.tmpdir=/tmp",
                "-Xmx512m"));
    Installation.endpointCache()
        .ifPresent(cache -> command.add("-XX:AOTCache=/opt/kakehashi/" + cache.getFileName()));
    command.addAll(
        List.of(
            "-jar",
            "/opt/kakehashi/kakehashi-endpoint.jar",
            "start",
            "--runtime-directory",
            RUNTIME_DIR,
            "--data-directory",
            "/var/lib/kakehashi/data"));
    return command.toArray(String[]::new);
  }

  private void bind(
      @org.jspecify.annotations.Nullable HostConfig host, List<String> readOnlyDirectories) {
    if (host == null) {
      throw new IllegalStateException("no host configuration");
    }
    var binds = new ArrayList<Bind>();
    binds.add(new Bind(volume, new Volume("/run/kakehashi")));
    readOnlyDirectories.forEach(path -> binds.add(new Bind(path, new Volume(path), AccessMode.ro)));
    host.withBinds(binds);
  }

  void start() {
    endpoint.start();
    postgres.start();
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://"
            + postgres.getHost()
            + ":"
            + postgres.getMappedPort(5432)
            + "/postgres",
        "postgres",
        "");
  }

  /// SIGKILL to the endpoint, as the kernel's out-of-memory killer would send it.
  void killEndpoint() {
    endpoint.getDockerClient().killContainerCmd(endpoint.getContainerId()).exec();
  }

  /// Starts the killed endpoint's container again: the same files, another process.
  void restartEndpoint() {
    endpoint.getDockerClient().startContainerCmd(endpoint.getContainerId()).exec();
    Wait.forSuccessfulCommand("true").withStartupTimeout(START_LIMIT).waitUntilReady(endpoint);
  }

  String inPostgres(String... command) throws Exception {
    return output(postgres.execInContainer(command));
  }

  String inEndpoint(String... command) throws Exception {
    return output(endpoint.execInContainer(command));
  }

  private static String output(Container.ExecResult result) {
    if (result.getExitCode() != 0) {
      throw new IllegalStateException(
          "ended with " + result.getExitCode() + ": " + result.getStderr());
    }
    return result.getStdout().strip();
  }

  String endpointLog() {
    return endpoint.getLogs();
  }

  @Override
  public void close() {
    postgres.stop();
    endpoint.stop();
    Docker.removeVolume(volume);
  }
}
