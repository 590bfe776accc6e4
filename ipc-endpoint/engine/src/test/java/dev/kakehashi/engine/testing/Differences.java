package dev.kakehashi.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;

/// Differences that comparisons with PostgreSQL have found.
public final class Differences {
  private static final int MAX_SHOWN = 60;

  private Differences() {}

  /// @param seed of the random values that were compared
  public static void assertNone(List<String> differences, long seed) {
    assertEquals(
        0,
        differences.size(),
        () ->
            differences.size()
                + " differences with seed "
                + seed
                + ":\n"
                + String.join(
                    "\n", differences.subList(0, Math.min(MAX_SHOWN, differences.size()))));
  }
}
