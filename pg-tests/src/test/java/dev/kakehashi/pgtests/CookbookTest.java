package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.DocumentBlock;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Tools;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/// The cookbook of README.md does what it says: each block of it is run as its reader would, in its order, with psql or bash, in a
/// directory that has what the root of a checkout has after `make run`.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CookbookTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  /// Blocks that are not run here, as heading and language, and what runs them instead, or why nothing does.
  private static final Map<String, String> ELSEWHERE =
      Map.of(
          "Look around, sh",
          "starts servers below .run/ of the checkout, for which those of this test stand",
          "Use your own PostgreSQL, sh",
          InstallTest.class.getSimpleName(),
          "Let other OS users in, conf",
          OtherUsersTest.class.getSimpleName(),
          "Record and replay, sh",
          ReplayTest.class.getSimpleName(),
          "Compare, sh",
          "a benchmark is never a test");

  /// From this heading on the reader works with a server of his own, for which another database stands.
  private static final String OWN_SERVER = "Use your own PostgreSQL";

  private static final String OWN_DATABASE = "own";
  private static final String HTTP_USER = Installation.serverUser();
  private static final String HTTP_PASSWORD = "of the tests";

  /// A fenced block.
  ///
  /// @param database that its SQL is for
  private record Block(String heading, String language, String text, String database) {
    String name() {
      return heading + ", " + language;
    }
  }

  private final List<Block> blocks = blocks();
  private final Workspace workspace = Workspace.create("cookbook");
  private final Cluster cluster =
      Cluster.start(
          workspace,
          "http_port=0",
          "bulk_locations=files:" + workspace.newDiskDirectory("files") + ":readwrite");

  /// Stands for the checkout, whose files the servers' OS user may not be able to read.
  private final Path root = cluster.workspace().newDiskDirectory("checkout");

  /// Texts of the cookbook, and their counterparts here.
  private final Map<String, String> places =
      Map.of(
          "/var/lib/postgresql/kakehashi",
          cluster.endpoint().dataDirectory().toString(),
          "/var/lib/postgresql/restored",
          cluster.workspace().disk().resolve("restored").toString(),
          "/backup/monday",
          cluster.workspace().disk().resolve("monday").toString(),
          "/dev/shm/kakehashi/main",
          cluster.endpoint().runtimeDirectory().toString(),
          "requirepeer 'postgres'",
          "requirepeer '" + Installation.serverUser() + "'");

  @BeforeAll
  void makeWhatTheReaderHas() throws IOException, SQLException {
    Files.createDirectories(root.resolve(".run"));
    for (String name : List.of("lib", "bin")) {
      Files.createSymbolicLink(
          root.resolve(".run").resolve(name), Installation.runDirectory().resolve(name));
    }
    Files.writeString(
        root.resolve(".run/env"),
        environment("postgres").entrySet().stream()
            .map(each -> "export " + each.getKey() + "='" + each.getValue() + "'\n")
            .collect(Collectors.joining()));
    copyExample("data", "more-accounts.csv");
    copyExample("java", "Transfer.java");
    Path launcher = Files.createDirectories(root.resolve("bin")).resolve("kakehashi");
    Files.writeString(
        launcher,
        """
        #!/bin/sh
        exec "%s" -Xmx512m -jar "%s" "$@"
        """
            .formatted(
                String.join("\" \"", Installation.endpointJvm()), Installation.endpointJar()));
    Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));

    cluster.endpoint().command(HTTP_PASSWORD + "\n", "user", "add", HTTP_USER);
    Tools.run(
        "tpch",
        "load",
        "--runtime-directory",
        cluster.endpoint().runtimeDirectory().toString(),
        "--scale",
        "0.01");
    try (Connection connection = cluster.connect()) {
      Sql.execute(
          connection,
          "CREATE SCHEMA tpch",
          "IMPORT FOREIGN SCHEMA tpch FROM SERVER kakehashi INTO tpch",
          "CREATE ROLE clerk",
          "CREATE DATABASE " + OWN_DATABASE);
    }
  }

  private void copyExample(String folder, String name) throws IOException {
    Path to = Files.createDirectories(root.resolve("examples").resolve(folder));
    Path from = Installation.checkout().resolve("examples").resolve(folder);
    Files.copy(from.resolve(name), to.resolve(name));
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @TestFactory
  Stream<DynamicTest> shouldDoWhatTheBlockSays() {
    return blocks.stream()
        .filter(block -> !ELSEWHERE.containsKey(block.name()))
        .map(block -> DynamicTest.dynamicTest(block.name(), () -> run(block)));
  }

  @Test
  void shouldStillHaveTheBlocksThatAreRunElsewhere() {
    Set<String> gone = new TreeSet<>(ELSEWHERE.keySet());
    blocks.forEach(block -> gone.remove(block.name()));
    assertEquals(Set.of(), gone);
  }

  @Test
  void shouldStillNameThePlacesThatAreOthersHere() {
    String all = blocks.stream().map(Block::text).collect(Collectors.joining());
    assertEquals(
        List.of(), places.keySet().stream().filter(place -> !all.contains(place)).toList());
  }

  private void run(Block block) throws SQLException {
    if (!cluster.endpoint().isAlive()) {
      cluster.endpoint().start(); // a block before has stopped it
    }
    String text = block.text();
    for (Map.Entry<String, String> place : places.entrySet()) {
      text = text.replace(place.getKey(), place.getValue());
    }
    switch (block.language()) {
      case "sql" ->
          checked(
              block,
              List.of("psql", "-X", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-f", "-"),
              text);
      case "sh" -> {
        // The passwords that commands ask for.
        String output =
            checked(block, List.of("bash", "-e", "-u", "-o", "pipefail", "-c", text), "secret\n");
        if (text.contains("Transfer.java")) {
          assertTrue(output.contains("owner 7 has 70.00"), output);
        }
      }
      case "conf" -> configure(text);
      default -> throw new AssertionError("nothing runs a block of " + block.language());
    }
  }

  /// Runs a command in the directory that stands for the checkout.
  private String checked(Block block, List<String> command, String input) {
    List<String> all = new ArrayList<>(List.of("env", "-C", root.toString()));
    all.addAll(command);
    OsProcess.Outcome outcome = OsProcess.run(all, environment(block.database()), input, LIMIT);
    assertEquals(0, outcome.exitCode(), outcome.output());
    assertFalse(outcome.output().contains("ERROR:"), outcome.output());
    return outcome.output();
  }

  /// Lines of postgresql.conf, then a restart.
  private void configure(String lines) throws SQLException {
    try (Connection connection = cluster.connect()) {
      for (String line : lines.lines().toList()) {
        Sql.execute(connection, "ALTER SYSTEM SET " + line.replaceFirst("\\s*#.*", ""));
      }
    }
    cluster.postgres().stop();
    cluster.postgres().start();
  }

  /// Variables that `. .run/env` sets, and the place of the launcher.
  private Map<String, String> environment(String database) {
    Map<String, String> environment = new HashMap<>(cluster.postgres().environment());
    environment.put("PGDATABASE", database);
    environment.put("KAKEHASHI_RUNTIME_DIR", cluster.endpoint().runtimeDirectory().toString());
    environment.put("KAKEHASHI_URL", cluster.endpoint().httpUri().toString());
    environment.put("KAKEHASHI_USER", HTTP_USER);
    environment.put("KAKEHASHI_PASSWORD", HTTP_PASSWORD);
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("PATH", root.resolve("bin") + ":" + System.getenv("PATH"));
    return environment;
  }

  private static List<Block> blocks() {
    List<Block> blocks = new ArrayList<>();
    String database = "postgres";
    for (DocumentBlock each : DocumentBlock.of(Installation.checkout().resolve("README.md"))) {
      if (each.part().equals("Cookbook")) {
        database = each.heading().equals(OWN_SERVER) ? OWN_DATABASE : database;
        blocks.add(new Block(each.heading(), each.language(), each.text(), database));
      }
    }
    assertEquals(OWN_DATABASE, database, "README.md has \"" + OWN_SERVER + "\"");
    return blocks;
  }
}
