package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.valuetext.number.IntegerText;

/// smallint, integer, bigint.
final class TextToInteger extends TextColumn {
  /// Digits that a long holds in any case.
  private static final int SAFE_DIGITS = 18;

  private final String type;
  private final long min;
  private final long max;

  TextToInteger(String type, long min, long max) {
    this.type = type;
    this.min = min;
    this.max = max;
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    int at = from;
    boolean negative = at < to && bytes[at] == '-';
    if (negative) {
      at++;
    }
    long value = 0;
    int length = to - at;
    boolean isPlain = length > 0 && length <= SAFE_DIGITS;
    if (isPlain && length <= 8) {
      // At once: where a loop ends would be a guess of the processor.
      long eight = Eight.load(bytes, at);
      isPlain = Eight.digitCount(eight) >= length;
      value = Eight.number(eight, length);
      at = to;
    }
    for (; isPlain && at < to; at++) {
      int digit = bytes[at] - '0';
      isPlain = digit >= 0 && digit <= 9;
      value = 10 * value + digit;
    }
    value = negative ? -value : value;
    if (!isPlain || value < min || value > max) {
      value = IntegerText.parse(FileUtf8.stripped(bytes, from, to), type, min, max);
    }
    batch.setWord(column, value);
  }
}
