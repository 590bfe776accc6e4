package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.DocumentBlock;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Contents of the packages and of the documentation. `make test-packages` installs them in containers.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PackagingTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final double MOST_EXPOSURE = 3.0;

  private final Path root = Installation.checkout();
  private final Workspace workspace = Workspace.create("packaging");
  private final Path code = workspace.disk().resolve("code");

  @BeforeAll
  void makeTheDocuments() {
    ownRun(root.resolve("packaging/documents.sh").toString(), code.toString());
  }

  @AfterAll
  void removeThem() {
    workspace.close();
  }

  @Test
  void shouldGiveTheServiceFewRights() throws IOException {
    Path unit = workspace.disk().resolve("kakehashi.service");
    Files.copy(root.resolve("packaging/debian/kakehashi-server.kakehashi.service"), unit);
    String report =
        ownRun("systemd-analyze", "security", "--no-pager", "--offline=true", unit.toString());
    Matcher exposure = Pattern.compile("Overall exposure level .*: ([0-9.]+) ").matcher(report);
    assertTrue(exposure.find(), report);
    assertTrue(Double.parseDouble(exposure.group(1)) <= MOST_EXPOSURE, report);
  }

  @Test
  void shouldHaveSettingsThatTheEndpointTakes() {
    Path settings = workspace.disk().resolve("kakehashi.conf");
    ownRun(root.resolve("packaging/settings.sh").toString(), settings.toString());
    List<String> command = new ArrayList<>(Installation.endpointJvm());
    command.addAll(
        List.of(
            "-jar",
            Installation.endpointJar().toString(),
            "status",
            "--config",
            settings.toString(),
            "--set",
            "data_directory=" + workspace.disk().resolve("none")));
    OsProcess.Outcome outcome = OsProcess.run(command, Map.of(), "", LIMIT);
    assertEquals(3, outcome.exitCode(), outcome.output());
    assertTrue(outcome.output().contains("no endpoint runs"), outcome.output());
  }

  @Test
  void shouldHaveAManualPageForEachCommand() throws IOException {
    String page = Files.readString(code.resolve("man/kakehashi.1"));
    for (String command : List.of("start", "sql", "load", "queue", "app", "backup", "doctor")) {
      assertTrue(page.contains("kakehashi\\-" + command), command);
    }
    Set<String> named = new TreeSet<>();
    Set<String> there = new TreeSet<>();
    try (Stream<Path> pages = Files.list(code.resolve("man"))) {
      for (Path each : pages.toList()) {
        there.add(each.getFileName().toString());
        Pattern.compile("(?m)^\\\\fB(kakehashi\\S*)\\\\fR\\(1\\)$")
            .matcher(Files.readString(each))
            .results()
            .forEach(name -> named.add(name.group(1).replace("\\-", "-") + ".1"));
      }
    }
    named.add("kakehashi.1");
    assertEquals(named, there);
  }

  @Test
  void shouldCompleteCommandsAndOptionsInBash() {
    String completed =
        ownRun(
            "bash",
            "-c",
            """
            . "$1"
            compopt() { :; } # bash has it where somebody types alone
            COMP_WORDS=(kakehashi queue re) COMP_CWORD=2 COMP_LINE="kakehashi queue re" COMP_POINT=18
            _complete_kakehashi; echo "${COMPREPLY[@]}"
            COMP_WORDS=(kakehashi load --tab) COMP_CWORD=2 COMP_LINE="kakehashi load --tab" COMP_POINT=20
            _complete_kakehashi; echo "${COMPREPLY[@]}"
            """,
            "bash",
            code.resolve("kakehashi.bash").toString());
    assertEquals("receive\n--table", completed.strip());
  }

  @Test
  void shouldHaveEachPageOfTheDocumentationOnce() throws IOException {
    Path pages = Files.createDirectory(workspace.disk().resolve("pages"));
    ownRun(
        "python3",
        root.resolve(".make/site.py").toString(),
        root.toString(),
        code.toString(),
        pages.toString());
    Set<String> there;
    try (Stream<Path> all = Files.list(pages)) {
      there =
          all.filter(Files::isRegularFile) // pictures are in folders
              .map(each -> each.getFileName().toString())
              .collect(Collectors.toCollection(TreeSet::new));
    }
    List<String> navigation =
        Pattern.compile("(?m): (\\w[\\w-]*\\.md)$")
            .matcher(Files.readString(root.resolve("docs/site/mkdocs.yml")))
            .results()
            .map((MatchResult each) -> each.group(1))
            .sorted()
            .toList();
    assertEquals(List.copyOf(there), navigation);
    for (String name : there) {
      Pattern.compile("(?<=\\]\\()[\\w-]+\\.md(?=[#)])")
          .matcher(Files.readString(pages.resolve(name)))
          .results()
          .forEach(link -> assertTrue(there.contains(link.group()), name + ": " + link.group()));
    }
  }

  /// The containers of `make test-packages` go the way that readers go.
  @Test
  void shouldTestTheWayThatTheReadmeShows() throws IOException {
    List<DocumentBlock> blocks =
        DocumentBlock.of(root.resolve("README.md")).stream()
            .filter(each -> each.part().equals("Install"))
            .toList();
    assertEquals(List.of("sh", "sql"), blocks.stream().map(DocumentBlock::language).toList());
    for (DocumentBlock each : blocks) {
      // As the test of the packages reads it.
      String tested =
          OsProcess.runOkAsSelf(
              List.of(
                  "bash",
                  "-c",
                  "cd \"$0\" && eval \"$(grep '^way()' .make/test-packages.sh)\" && way \"$1\"",
                  root.toString(),
                  each.language()),
              LIMIT);
      assertEquals(each.text().strip(), tested.strip());
    }
    assertEquals(
        6, blocks.stream().mapToLong(each -> each.text().lines().count()).sum(), "commands");
  }

  private static String ownRun(String... command) {
    List<String> all =
        new ArrayList<>(List.of("env", "JAVA_HOME=" + System.getProperty("java.home")));
    all.addAll(List.of(command));
    return OsProcess.runOkAsSelf(all, LIMIT);
  }
}
