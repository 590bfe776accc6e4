package dev.kakehashi.engine.embedded.identity;

import java.util.List;
import java.util.Random;

/// Random choices of one identity. Used by one thread.
final class Dice {
  private final Random random;

  Dice(long seed) {
    // Seeds that follow on each other begin alike without the mixing.
    random = new Random(seed * 0x9E3779B97F4A7C15L);
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  int between(int low, int high) {
    return low + random.nextInt(high - low + 1);
  }

  /// True in one of `count` cases.
  boolean oneIn(int count) {
    return random.nextInt(count) == 0;
  }

  String pick(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  <T> T pick(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
