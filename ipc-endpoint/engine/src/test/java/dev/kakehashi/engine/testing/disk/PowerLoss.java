package dev.kakehashi.engine.testing.disk;

import java.util.Random;

/// Says what becomes of the changes that were not synchronised, by a seed.
///
/// Each loss has a temper of its own: all or nothing of names, of contents and of lengths, or some; writes as a whole, by pages or by
/// sectors; names one by one, or in the order of a journal.
public final class PowerLoss {
  private static final double[] SHARES = {0, 0, 0.1, 0.5, 0.9, 1};

  /// Unit of those that keep or lose each write as a whole.
  static final int WRITE = Integer.MAX_VALUE;

  private static final int[] UNITS = {512, 4096, WRITE};

  private final Random random;

  /// Bytes that come to the disk together, at multiples of themselves.
  final int unit;

  private final double contents;
  private final double lengths;
  private final double names;

  /// From which change of names on none is there, as a share of all; 1: that is no matter.
  private final double journal;

  private PowerLoss(
      Random random, int unit, double contents, double lengths, double names, double journal) {
    this.random = random;
    this.unit = unit;
    this.contents = contents;
    this.lengths = lengths;
    this.names = names;
    this.journal = journal;
  }

  /// One by a seed.
  public static PowerLoss of(long seed) {
    Random random = new Random(seed);
    int unit = UNITS[random.nextInt(UNITS.length)];
    double contents = share(random);
    double lengths = random.nextBoolean() ? contents : share(random);
    boolean ordered = random.nextInt(3) == 0;
    double names = ordered ? 1 : share(random);
    return new PowerLoss(random, unit, contents, lengths, names, ordered ? random.nextDouble() : 1);
  }

  /// Nothing is there that was not synchronised.
  public static PowerLoss ofAll() {
    return new PowerLoss(new Random(0), WRITE, 0, 0, 0, 1);
  }

  /// Everything is there, as after a kill of the process.
  public static PowerLoss ofNothing() {
    return new PowerLoss(new Random(0), WRITE, 1, 1, 1, 1);
  }

  private static double share(Random random) {
    return SHARES[random.nextInt(SHARES.length)];
  }

  boolean keepsContent() {
    return random.nextDouble() < contents;
  }

  boolean keepsLength() {
    return random.nextDouble() < lengths;
  }

  /// @param place of the change among those that were not synchronised, as a share
  boolean keepsName(double place) {
    return place <= journal && random.nextDouble() < names;
  }

  @Override
  public String toString() {
    return "contents %s by %s, lengths %s, names %s, journal %s"
        .formatted(contents, unit == WRITE ? "write" : unit, lengths, names, journal);
  }
}
