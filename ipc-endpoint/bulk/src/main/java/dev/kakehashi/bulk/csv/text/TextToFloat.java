package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.valuetext.number.FloatText;

/// real and double precision: a number of few digits is exact as a quotient of two exact ones, so that it is rounded once.
final class TextToFloat extends TextColumn {
  private static final double[] POWERS8 = new double[23];
  private static final float[] POWERS4 = new float[11];
  private static final long EXACT8 = 1L << 53;
  private static final long EXACT4 = 1L << 24;

  static {
    // Each of them is exact.
    for (int i = 0; i < POWERS8.length; i++) {
      POWERS8[i] = Double.parseDouble("1e" + i);
    }
    for (int i = 0; i < POWERS4.length; i++) {
      POWERS4[i] = Float.parseFloat("1e" + i);
    }
  }

  private final boolean isFloat4;
  private final Decimals decimal = new Decimals();

  TextToFloat(boolean isFloat4) {
    this.isFloat4 = isFloat4;
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    if (decimal.read(bytes, from, to) && isExact()) {
      long significand = decimal.whole * Decimals.power(decimal.fractionDigits) + decimal.fraction;
      if (isFloat4 && significand <= EXACT4) {
        float magnitude = significand / POWERS4[decimal.fractionDigits];
        setFloat4(batch, column, decimal.negative ? -magnitude : magnitude);
        return;
      }
      if (!isFloat4 && significand <= EXACT8) {
        double magnitude = significand / POWERS8[decimal.fractionDigits];
        setFloat8(batch, column, decimal.negative ? -magnitude : magnitude);
        return;
      }
    }
    String text = FileUtf8.stripped(bytes, from, to);
    if (isFloat4) {
      setFloat4(batch, column, FloatText.parse4(text));
    } else {
      setFloat8(batch, column, FloatText.parse8(text));
    }
  }

  /// Whether all digits fit into a long.
  private boolean isExact() {
    return decimal.wholeDigits + decimal.fractionDigits <= 18
        && decimal.fractionDigits <= (isFloat4 ? 10 : 18);
  }

  private static void setFloat4(TextBatch batch, int column, float value) {
    batch.setWord(column, Float.floatToRawIntBits(value) & 0xFFFF_FFFFL);
  }

  private static void setFloat8(TextBatch batch, int column, double value) {
    batch.setWord(column, Double.doubleToRawLongBits(value));
  }
}
