package dev.kakehashi.pgtests.difference;

import java.util.List;

/// Two ways to ask for the same rows. One seed makes it, by which it runs alone.
///
/// @param name of the rule that says that they are the same
record Identity(long seed, String name, Way left, Way right) {
  /// One of the ways.
  ///
  /// @param settings of the planner before it
  /// @param queries whose rows together are those of the other way, in any order
  record Way(List<String> settings, List<String> queries) {
    @Override
    public String toString() {
      return (settings.isEmpty() ? "" : String.join("; ", settings) + ";\n  ")
          + String.join(";\n  ", queries);
    }
  }

  @Override
  public String toString() {
    return name
        + ", -Dkakehashi.seed="
        + seed
        + " -Dkakehashi.identities=1\n  "
        + left
        + "\nand\n  "
        + right;
  }
}
