package dev.kakehashi.engine.type;

import java.util.concurrent.ThreadLocalRandom;

/// The numbers that random() gives to one session. Thread-safe.
///
/// Until setseed() each thread has its own; from then on they are PostgreSQL's xoroshiro128**, in the order in which they are asked for.
public final class RandomNumbers {
  private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

  /// Bits of a double's fraction.
  private static final int FRACTION_BITS = 52;

  private volatile boolean seeded;

  /// Guarded by this.
  private long s0;

  private long s1;

  /// At least 0 and less than 1.
  public double next() {
    return seeded ? nextSeeded() : ThreadLocalRandom.current().nextDouble();
  }

  private synchronized double nextSeeded() {
    long a = s0;
    long b = s1 ^ a;
    long value = Long.rotateLeft(a * 5, 7) * 9;
    s0 = Long.rotateLeft(a, 24) ^ b ^ (b << 16);
    s1 = Long.rotateLeft(b, 37);
    return (value >>> (Long.SIZE - FRACTION_BITS)) * 0x1p-52;
  }

  /// @param value from -1 to 1
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_PARAMETER_VALUE
  public synchronized void seed(double value) {
    if (!(value >= -1 && value <= 1)) {
      throw SqlErrors.invalidParameter(
          "setseed parameter " + value + " is out of allowed range [-1,1]");
    }
    long state = (long) (((1L << FRACTION_BITS) - 1) * value);
    s0 = mixed(state + GOLDEN_GAMMA);
    s1 = mixed(state + GOLDEN_GAMMA + GOLDEN_GAMMA);
    seeded = true;
  }

  private static long mixed(long state) {
    long value = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
    value = (value ^ (value >>> 27)) * 0x94D049BB133111EBL;
    return value ^ (value >>> 31);
  }
}
