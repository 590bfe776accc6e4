package dev.kakehashi.fuzz;

import org.jspecify.annotations.Nullable;

/// The class that Jazzer calls, by the names that it looks for. `kakehashi.fuzz.target` says which target. One thread.
public final class Fuzzer {
  private static @Nullable FuzzTarget target;

  private Fuzzer() {}

  /// Called once, before the first input.
  public static void fuzzerInitialize() throws Exception {
    target = Targets.open(System.getProperty("kakehashi.fuzz.target", ""));
  }

  /// Called for each input.
  public static void fuzzerTestOneInput(byte[] input) {
    FuzzTarget open = target;
    if (open == null) {
      throw new IllegalStateException("called before fuzzerInitialize()");
    }
    Verdict.of(open, input);
  }
}
