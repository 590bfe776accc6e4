package dev.kakehashi.engine.embedded.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Queries that must have the same rows have them: with a condition and by its three outcomes, with and without indexes, by constants.
///
/// It needs no other database. A failing identity is printed with a smaller condition and its seed; `-Dkakehashi.seed=<seed>
/// -Dkakehashi.identities=1` runs it alone, `-Dkakehashi.identities=n` others than 150.
final class QueryIdentityTest {
  private static final int IDENTITIES = Integer.getInteger("kakehashi.identities", 150);

  /// Seed of the data, the same for every run: an identity's seed is all that it needs.
  private static final long DATA_SEED = 20261129;

  private static final int MAX_SHOWN = 25;

  @TempDir Path directory;

  @Test
  void shouldHaveTheSameRowsInEveryForm() {
    long seed = Long.getLong("kakehashi.seed", 1);
    System.out.println(
        "QueryIdentityTest: -Dkakehashi.seed=" + seed + " -Dkakehashi.identities=" + IDENTITIES);
    IdentityTables tables = new IdentityTables(DATA_SEED);
    try (TestEngine engine = new TestEngine(directory)) {
      tables.statements().forEach(engine::run);
      IdentityCheck check = new IdentityCheck(engine::query);
      List<String> faults = new ArrayList<>();
      for (long each = seed; each < seed + IDENTITIES && faults.size() < MAX_SHOWN; each++) {
        String fault = check.fault(RandomIdentities.of(each, tables));
        if (!fault.isEmpty()) {
          faults.add(fault);
          System.out.println(fault);
        }
      }
      assertEquals("", String.join("\n", faults), faults.size() + " identities are none");
      assertTrue(
          check.undecided() <= IDENTITIES / 20 + 1,
          check.undecided() + " of " + IDENTITIES + " identities are refused");
      assertTrue(
          check.empty() <= IDENTITIES / 2 + 1,
          check.empty() + " of " + IDENTITIES + " identities have no rows, and so prove little");
    }
  }
}
