package dev.kakehashi.benchmarks.engine;

import java.util.Locale;

/// The table that is printed: one line a measure, with its goal and whether it was reached.
public final class Report {
  private Report() {}

  /// Prints the head of the table.
  public static void main(String[] arguments) {
    head("heap", "engine");
  }

  /// Names the two sides of the lines that follow.
  static void head(String one, String other) {
    line("", one, other, "ratio", "goal", "");
  }

  /// How many times as long as the other side.
  static void times(String what, double ofOther, double ofEngine, double goal) {
    atMost(what, millis(ofOther), millis(ofEngine), ofEngine / ofOther, goal);
  }

  private static void atMost(
      String what, String ofOther, String ofEngine, double ratio, double goal) {
    line(what, ofOther, ofEngine, number(ratio), "<= " + number(goal), met(ratio <= goal));
  }

  static void times(String what, double ofOther, double ofEngine) {
    line(what, millis(ofOther), millis(ofEngine), number(ofEngine / ofOther), "", "");
  }

  /// The engine needs so many times what the heap needs.
  static void ratio(String what, double ofHeap, double ofEngine, double goal) {
    atMost(what, tenths(ofHeap), tenths(ofEngine), ofEngine / ofHeap, goal);
  }

  static void ratio(String what, double ofHeap, double ofEngine) {
    line(what, tenths(ofHeap), tenths(ofEngine), number(ofEngine / ofHeap), "", "");
  }

  private static String tenths(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /// How many times as fast as the heap.
  static void speed(String what, String ofHeap, String ofEngine, double ratio, double goal) {
    line(what, ofHeap, ofEngine, number(ratio), ">= " + number(goal), met(ratio >= goal));
  }

  /// A part of a measure, which has no goal of its own.
  static void part(String what, double heapMillis, double engineMillis) {
    line(
        "  " + what,
        millis(heapMillis),
        millis(engineMillis),
        number(heapMillis / engineMillis),
        "",
        "");
  }

  /// A part of a measure, as a fraction of 1.
  static void fraction(String what, double ofHeap, double ofEngine) {
    line("  " + what, number(ofHeap), number(ofEngine), number(ofEngine / ofHeap), "", "");
  }

  static void fraction(String what, double ofEngine) {
    line("  " + what, "-", number(ofEngine), "", "", "");
  }

  /// How much of its speed each side keeps, as a fraction of 1; the goal is the engine's.
  static void kept(String what, double ofHeap, double ofEngine, double goal) {
    line(
        what,
        number(ofHeap),
        number(ofEngine),
        number(ofEngine / ofHeap),
        ">= " + number(goal),
        met(ofEngine >= goal));
  }

  /// Prints further rates of a measure.
  static void rates(String what, double ofHeap, double ofEngine) {
    line("  " + what, perSecond(ofHeap), perSecond(ofEngine), number(ofEngine / ofHeap), "", "");
  }

  static void rate(String what, double ofEngine) {
    line("  " + what, "-", perSecond(ofEngine), "", "", "");
  }

  /// Prints the time of one of many operations, given in seconds.
  static void costs(String what, double ofHeap, double ofEngine) {
    line("  " + what, micros(ofHeap), micros(ofEngine), number(ofHeap / ofEngine), "", "");
  }

  /// A measure of the engine alone that is to be small.
  static void atMost(String what, String value, double measured, double goal, String goalText) {
    line(what, "-", value, "", "<= " + goalText, met(measured <= goal));
  }

  /// A measure of the engine alone that is to be great.
  static void atLeast(String what, String value, double measured, double goal, String goalText) {
    line(what, "-", value, "", ">= " + goalText, met(measured >= goal));
  }

  static String millis(double millis) {
    return String.format(Locale.ROOT, "%,.1f ms", millis);
  }

  private static String micros(double seconds) {
    return String.format(Locale.ROOT, "%,.0f us", seconds * 1e6);
  }

  static String perSecond(double rate) {
    return String.format(Locale.ROOT, "%,.0f/s", rate);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private static String met(boolean reached) {
    return reached ? "met" : "MISSED";
  }

  private static void line(
      String what, String ofHeap, String ofEngine, String ratio, String goal, String met) {
    String line =
        String.format(
            Locale.ROOT, "%-50s %13s %13s %7s %10s  %s", what, ofHeap, ofEngine, ratio, goal, met);
    System.out.println(line.stripTrailing());
  }
}
