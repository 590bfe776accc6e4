package dev.kakehashi.pgtests.difference;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.EngineNeeds;
import dev.kakehashi.pgtests.harness.Sql;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// An endpoint whose rows another PostgreSQL keeps: [ForeignDifferenceTest] in little, and the list of the tests that such an endpoint
/// cannot pass. "make test-pgwire" runs all others over it.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OverPostgresTest {
  private static final int PROGRAMS = Integer.getInteger("kakehashi.wire.queries", 60);

  /// Needs that the list explains and that are no capabilities.
  private static final Set<String> OTHER_NEEDS =
      Set.of("NO_ENDPOINT", "EMBEDDED_STORE", "OWN_SESSIONS");

  private final Cluster cluster = Cluster.start("wire", EndpointProcess.OVER_POSTGRES);

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void shouldBehaveLikeHeapTables() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261126);
    System.out.println(
        "OverPostgresTest: -Dkakehashi.seed=" + seed + " -Dkakehashi.wire.queries=" + PROGRAMS);
    new ComparedPrograms(seed, PROGRAMS).assertNoDifferences(cluster);
  }

  @Test
  void shouldLackWhatTheLeftOutTestsNeed() throws SQLException {
    Set<String> needs = new TreeSet<>();
    EngineNeeds.all().forEach(each -> needs.add(each.need()));
    needs.removeAll(OTHER_NEEDS);
    try (Connection connection = cluster.connect()) {
      needs.removeAll(
          Sql.rows(
              connection,
              "SELECT name FROM kakehashi_query('kakehashi', 'SELECT name FROM kakehashi_catalog.capabilities WHERE NOT present') AS t (name text)"));
    }
    assertEquals(Set.of(), needs);
  }

  @Test
  void shouldLeaveOutTestsThatThereAre() throws IOException, URISyntaxException {
    List<String> unknown = new ArrayList<>();
    Path classes =
        Path.of(OverPostgresTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (Stream<Path> files = Files.walk(classes)) {
      List<Path> all = files.filter(each -> each.toString().endsWith("Test.class")).toList();
      for (EngineNeeds.Need need : EngineNeeds.all()) {
        String[] names = need.test().split("[#\\[]", 3);
        if (all.stream().noneMatch(each -> has(classes.relativize(each), names))) {
          unknown.add(need.test());
        }
      }
    }
    assertEquals(List.of(), unknown);
  }

  private static boolean has(Path file, String[] names) {
    if (!file.getFileName().toString().equals(names[0] + ".class")) {
      return false;
    }
    try {
      String className = file.toString().replace('/', '.').replaceAll("\\.class$", "");
      return names.length == 1
          || Arrays.stream(
                  Class.forName(className, false, OverPostgresTest.class.getClassLoader())
                      .getDeclaredMethods())
              .anyMatch(method -> method.getName().equals(names[1]));
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }
}
