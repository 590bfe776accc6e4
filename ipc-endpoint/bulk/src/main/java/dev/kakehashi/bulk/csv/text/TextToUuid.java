package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.valuetext.ValueErrors;

/// uuid: 32 hexadecimal digits, with hyphens after any group of four, and braces around them.
final class TextToUuid extends TextColumn {
  private static final int DIGITS = 32;

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    int at = from;
    int end = to;
    if (to - from > 1 && bytes[from] == '{' && bytes[to - 1] == '}') {
      at++;
      end--;
    }
    long high = 0;
    long low = 0;
    int digits = 0;
    boolean afterHyphen = true;
    for (; at < end; at++) {
      byte each = bytes[at];
      if (each == '-' && (digits & 3) == 0 && digits < DIGITS && !afterHyphen) {
        afterHyphen = true;
        continue;
      }
      int digit = Hex.digit(each);
      if (digit < 0 || digits == DIGITS) {
        throw ValueErrors.invalidSyntax("uuid", FileUtf8.shown(bytes, from, to));
      }
      afterHyphen = false;
      high = high << 4 | low >>> 60;
      low = low << 4 | digit;
      digits++;
    }
    if (digits != DIGITS) {
      throw ValueErrors.invalidSyntax("uuid", FileUtf8.shown(bytes, from, to));
    }
    int value = batch.heap(column, 16);
    Eight.store(batch.memory, value, Long.reverseBytes(high));
    Eight.store(batch.memory, value + 8, Long.reverseBytes(low));
  }
}
