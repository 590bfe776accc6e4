package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.ProcessSockets;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Files that `make install` puts below DESTDIR work from there: launcher, settings, endpoint, tools. The extension's files are where
/// PostgreSQL looks for them.
class InstallTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Test
  void shouldInstallAProgramThatStartsAndStops() throws IOException {
    try (var workspace = Workspace.create("install")) {
      Path destination = Files.createDirectory(workspace.disk().resolve("dest"));
      OsProcess.runOkAsSelf(
          List.of(
              "env",
              "DESTDIR=" + destination,
              "PREFIX=/opt/kakehashi",
              // A training takes longer than this test.
              "TRAIN=no",
              "JAVA_HOME=" + System.getProperty("java.home"),
              Installation.checkout().resolve(".make/install.sh").toString()),
          LIMIT);
      assertEquals(
          Set.of(
              "kakehashi_fdw.so",
              "kakehashi_fdw.control",
              "kakehashi_fdw--1.0.sql",
              "kakehashi_fdw--1.0--1.1.sql"),
          names(destination, "kakehashi_fdw.*\\.(so|control|sql)"));

      Path prefix = destination.resolve("opt/kakehashi");
      String kakehashi = prefix.resolve("bin/kakehashi").toString();
      assertTrue(run(kakehashi, "--version").startsWith("kakehashi "));
      assertTrue(run(kakehashi, "tpch", "--help").contains("TPC-H"));

      Path data = workspace.newDiskDirectory("data");
      Path runtime = workspace.memory().resolve("run");
      List<String> directories =
          List.of("--data-directory", data.toString(), "--runtime-directory", runtime.toString());
      var start = new ArrayList<>(List.of(kakehashi, "start", "--config"));
      start.add(prefix.resolve("etc/kakehashi/kakehashi.conf").toString());
      start.addAll(directories);
      Path log = workspace.disk().resolve("endpoint.log");
      var command = new ArrayList<>(Installation.asServerUser());
      command.addAll(start);
      try (var endpoint = new ServerProcess("the installed endpoint", command, Map.of(), log)) {
        endpoint.start();
        endpoint.awaitReady(
            () -> ProcessSockets.listens(endpoint.pid(), runtime.resolve("endpoint.sock")));
        run(Installation.ping().toString(), runtime.toString(), "10");
        String status = run(with(directories, kakehashi, "status"));
        assertTrue(status.contains("endpoint is ready"), status);
        shouldFindItsEndpoint(prefix, data, runtime);
        run(with(directories, kakehashi, "stop"));
        assertEquals(143, endpoint.awaitEnd(), "ended by SIGTERM");
        assertTrue(Files.notExists(runtime.resolve("endpoint.sock")));
      }
    }
  }

  /// Without an option, for the endpoint's user and for root; and what is wrong is said in a few lines.
  private static void shouldFindItsEndpoint(Path prefix, Path data, Path runtime)
      throws IOException {
    String kakehashi = prefix.resolve("bin/kakehashi").toString();
    Path settings = prefix.resolve("etc/kakehashi");
    assertTrue(
        Files.readString(settings.resolve("client.conf")).contains("\nrequirepeer = "),
        "whom to trust is said");
    Files.writeString(
        settings.resolve("client.conf"),
        "runtime_directory = %s\nrequirepeer = %s\n".formatted(runtime, Installation.serverUser()));
    Files.writeString(
        settings.resolve("kakehashi.conf"),
        "data_directory = %s\nruntime_directory = %s\n".formatted(data, runtime));
    List<String> query = List.of(kakehashi, "sql", "-At", "-c", "SELECT 6 * 7");
    assertEquals("42\n", OsProcess.runOk(query, Map.of(), LIMIT));
    assertEquals("42\n", OsProcess.runOkAsSelf(query, LIMIT));
    String status = OsProcess.runOkAsSelf(List.of(kakehashi, "status"), LIMIT);
    assertTrue(status.contains("endpoint is ready"), status);
    for (List<String> wrong :
        List.of(
            List.of(kakehashi, "sql", "--nonsense"),
            List.of(kakehashi, "status", "--nonsense"),
            List.of(kakehashi, "sql", "--transaction", "none", "-c", "SELECT 1"))) {
      OsProcess.Outcome outcome = OsProcess.run(wrong, Map.of(), "", LIMIT);
      assertEquals(2, outcome.exitCode(), outcome.output());
      assertTrue(outcome.output().lines().count() <= 3, outcome.output());
      assertTrue(outcome.output().contains(" --help\" lists"), outcome.output());
    }
  }

  private static String[] with(List<String> directories, String... command) {
    var all = new ArrayList<>(List.of(command));
    all.addAll(directories);
    return all.toArray(String[]::new);
  }

  private static String run(String... command) {
    return OsProcess.runOk(List.of(command), Map.of(), LIMIT);
  }

  private static Set<String> names(Path tree, String pattern) throws IOException {
    try (Stream<Path> paths = Files.walk(tree)) {
      return paths
          .map(path -> path.getFileName().toString())
          .filter(name -> name.matches(pattern))
          .collect(Collectors.toSet());
    }
  }
}
