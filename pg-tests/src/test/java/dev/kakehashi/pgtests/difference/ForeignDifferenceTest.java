package dev.kakehashi.pgtests.difference;

import dev.kakehashi.pgtests.harness.Cluster;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/// The same random statements over heap tables and over foreign tables with the same rows behave the same; see [ComparedPrograms].
///
/// Every run takes the same programs unless told otherwise: a difference is a matter of the change that is tested. A program runs alone by
/// its seed: `-Dkakehashi.seed=<seed> -Dkakehashi.queries=1`.
class ForeignDifferenceTest {
  private static final int PROGRAMS = Integer.getInteger("kakehashi.queries", 1_500);

  @Test
  void shouldBehaveLikeHeapTables() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261121);
    System.out.println(
        "ForeignDifferenceTest: -Dkakehashi.seed=" + seed + " -Dkakehashi.queries=" + PROGRAMS);
    try (Cluster cluster = Cluster.start("difference")) {
      new ComparedPrograms(seed, PROGRAMS).assertNoDifferences(cluster);
    }
  }
}
