package dev.kakehashi.benchmarks.bulk;

import static dev.kakehashi.benchmarks.rest.BenchmarkTable.met;
import static dev.kakehashi.benchmarks.rest.BenchmarkTable.number;

import java.util.Locale;

/// The table that is printed: one line a measure, with what it must be, what it is, and whether that is reached.
final class BulkReport {
  private BulkReport() {}

  /// Prints the head of the table.
  static void head() {
    line("", "other", "engine", "is", "must", "");
  }

  /// A measure that is to be small.
  static void atMost(String what, String other, String engine, double is, double must) {
    line(what, other, engine, number(is), "<= " + number(must), met(is <= must));
  }

  /// A measure that is to be great.
  static void atLeast(String what, String other, String engine, double is, double must) {
    line(what, other, engine, number(is), ">= " + number(must), met(is >= must));
  }

  /// Prints a further figure of a measure.
  static void part(String what, String other, String engine, double is) {
    line("  " + what, other, engine, number(is), "", "");
  }

  static void note(String what, String engine) {
    line("  " + what, "", engine, "", "", "");
  }

  static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%,.2f s", seconds);
  }

  private static void line(
      String what, String other, String engine, String is, String must, String met) {
    String line =
        String.format(
            Locale.ROOT, "%-58s %12s %12s %7s %9s  %s", what, other, engine, is, must, met);
    System.out.println(line.stripTrailing());
  }
}
