package dev.kakehashi.applications.link;

/// Where numbers of 64 bits lie in a lane's piece: a function's arguments, one parameter after the other, and in their place its results.
public final class NumberBatch {
  /// int: index of the function.
  public static final long INDEX = 4;

  /// int.
  public static final long ROWS = 8;

  /// int.
  public static final long PARAMETERS = 12;

  /// Values begin here.
  public static final long VALUES = 64;

  public static final int MOST_PARAMETERS = 8;

  private NumberBatch() {}

  /// Rows that fit.
  public static int rows(int parameters) {
    return (int) ((LinkLane.ROOM - VALUES) / ((long) Long.BYTES * Math.max(1, parameters)));
  }

  /// Where the values of a parameter begin.
  public static long argument(int parameter, int rows) {
    return VALUES + (long) parameter * rows * Long.BYTES;
  }

  public static int bytes(int parameters, int rows) {
    return (int) argument(parameters, rows);
  }
}
