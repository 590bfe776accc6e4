package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.DocumentBlock;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/// The tutorial does what it says: its blocks are run in their order, with psql or bash, and the launcher of the packages.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(
    MethodOrderer.MethodName.class) // what is printed is looked at after the blocks have run
class TutorialTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /// Output of a part, among other output, by the beginning of its heading.
  private static final Map<String, String> PRINTED =
      Map.of(
          "1.", "bowl  | 10.73",
          "2.", "plate |",
          "3.", "23503",
          "4.", "cup|99",
          "5.", "100001",
          "6.", "by a task",
          "7.", "sale");

  private final List<DocumentBlock> blocks =
      DocumentBlock.of(Installation.checkout().resolve("docs/tutorial.md"));
  private final Cluster cluster = Cluster.start(Workspace.create("tutorial"));
  private final Path home = cluster.workspace().newDiskDirectory("home");
  private final Map<String, String> printed = new HashMap<>();

  @BeforeAll
  void makeTheLauncher() throws IOException {
    Path launcher = Files.createDirectories(home.resolve("bin")).resolve("kakehashi");
    Path lib = Files.createDirectories(home.resolve("lib")).resolve("kakehashi");
    Files.createSymbolicLink(lib, Installation.endpointJar().getParent());
    Path template = Installation.checkout().resolve("packaging/launcher");
    Files.writeString(
        launcher, Files.readString(template).replace("@JAVA@", System.getProperty("java.home")));
    Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @TestFactory
  Stream<DynamicTest> shouldDoWhatTheBlockSays() {
    return IntStream.range(0, blocks.size())
        .mapToObj(i ->
            DynamicTest.dynamicTest(
                blocks.get(i).heading() + ", block " + i, () -> run(blocks.get(i))));
  }

  @TestFactory
  Stream<DynamicTest> shouldPrintWhatThePartIsAbout() {
    return PRINTED.entrySet().stream()
        .map(each ->
            DynamicTest.dynamicTest(
                each.getKey(),
                () -> {
                  String output =
                      printed.entrySet().stream()
                          .filter(part -> part.getKey().startsWith(each.getKey()))
                          .map(Map.Entry::getValue)
                          .collect(Collectors.joining());
                  assertTrue(output.contains(each.getValue()), output);
                }));
  }

  @Test
  void shouldHaveBlocksForPsqlAndTheShellOnly() {
    assertEquals(
        List.of("sh", "sql"),
        blocks.stream().map(DocumentBlock::language).distinct().sorted().toList());
  }

  private void run(DocumentBlock block) {
    List<String> command = new ArrayList<>(List.of("env", "-C", home.toString()));
    boolean sql = block.language().equals("sql");
    command.addAll(
        sql
            ? List.of("psql", "-X", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-f", "-")
            : List.of("bash", "-e", "-u", "-o", "pipefail", "-c", block.text()));
    Map<String, String> environment = new HashMap<>(cluster.postgres().environment());
    environment.put("KAKEHASHI_RUNTIME_DIR", cluster.endpoint().runtimeDirectory().toString());
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("PATH", home.resolve("bin") + ":" + System.getenv("PATH"));
    OsProcess.Outcome outcome = OsProcess.run(command, environment, sql ? block.text() : "", LIMIT);
    assertEquals(0, outcome.exitCode(), outcome.output());
    if (!block.text().contains("ON_ERROR_STOP 0")) {
      assertFalse(outcome.output().contains("ERROR:"), outcome.output());
    }
    printed.merge(block.heading(), outcome.output(), String::concat);
  }
}
