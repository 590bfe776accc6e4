package dev.kakehashi.benchmarks.rest;

import java.util.Locale;

/// The table that is printed: one line a measure, with its goal and whether it was reached.
public final class BenchmarkTable {
  private BenchmarkTable() {}

  static void head() {
    head("peer", "endpoint");
  }

  public static void head(String other, String own) {
    line("", other, own, "ratio", "goal", "");
  }

  /// How many times as fast as the peer.
  public static void atLeast(String what, String peer, String endpoint, double ratio, double goal) {
    line(what, peer, endpoint, number(ratio), ">= " + number(goal), met(ratio >= goal));
  }

  /// A measure that is to be small.
  public static void atMost(
      String what, String before, String after, double measured, double goal, String unit) {
    line(
        what,
        before,
        after,
        unit.isEmpty() ? number(measured) : "",
        "<= " + trimmed(goal) + (unit.isEmpty() ? "" : " " + unit),
        met(measured <= goal));
  }

  /// Prints a further measurement, which has no goal.
  public static void more(String what, String peer, String endpoint) {
    line("  " + what, peer, endpoint, "", "", "");
  }

  public static String rate(double perSecond) {
    return String.format(Locale.ROOT, "%,.0f/s", perSecond);
  }

  public static String micros(double micros) {
    return String.format(Locale.ROOT, "%,.1f us", micros);
  }

  public static String millis(double millis) {
    return String.format(Locale.ROOT, "%,.1f ms", millis);
  }

  public static String megabytes(double bytes) {
    return String.format(Locale.ROOT, "%,.1f MB", bytes / 1e6);
  }

  public static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private static String trimmed(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : number(value);
  }

  public static String met(boolean reached) {
    return reached ? "met" : "MISSED";
  }

  private static void line(
      String what, String peer, String endpoint, String ratio, String goal, String met) {
    String line =
        String.format(
            Locale.ROOT, "%-50s %13s %13s %7s %10s  %s", what, peer, endpoint, ratio, goal, met);
    System.out.println(line.stripTrailing());
  }
}
