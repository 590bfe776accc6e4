package dev.kakehashi.bulk.csv.text;

/// A decimal number without an exponent, of few digits, read from bytes. Not thread-safe; for one number after another.
final class Decimals {
  /// Most digits on each side of the point.
  static final int MAX_DIGITS = 16;

  private static final long[] POWERS = new long[19];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = 10 * POWERS[i - 1];
    }
  }

  boolean negative;

  /// Before the point.
  long whole;

  int wholeDigits;

  /// Behind the point.
  long fraction;

  int fractionDigits;

  /// 10 to a power of 0 to 18.
  static long power(int exponent) {
    return POWERS[exponent];
  }

  /// @return whether there is such a number from the first byte to the last
  boolean read(byte[] bytes, int from, int to) {
    int at = from;
    negative = at < to && bytes[at] == '-';
    if (negative) {
      at++;
    }
    return readShort(bytes, at, to) || readLong(bytes, at, to);
  }

  /// Up to seven digits before the point, and behind it: without loops, whose ends would be a guess of the processor.
  private boolean readShort(byte[] bytes, int from, int to) {
    long eight = Eight.load(bytes, from);
    int count = Math.min(Eight.digitCount(eight), to - from);
    int place = from + count;
    if (count < 1 || count > 7) {
      return false;
    }
    whole = Eight.number(eight, count);
    wholeDigits = count;
    if (place == to) {
      fraction = 0;
      fractionDigits = 0;
      return true;
    }
    int left = to - place - 1;
    if (bytes[place] != '.' || left < 1 || left > 7) {
      return false;
    }
    eight = Eight.load(bytes, place + 1);
    fraction = Eight.number(eight, left);
    fractionDigits = left;
    return Eight.digitCount(eight) >= left;
  }

  private boolean readLong(byte[] bytes, int from, int to) {
    int at = from;
    int begin = at;
    long value = 0;
    int end = Math.min(to, begin + MAX_DIGITS + 1);
    for (; at < end; at++) {
      int digit = bytes[at] - '0';
      if (digit < 0 || digit > 9) {
        break;
      }
      value = 10 * value + digit;
    }
    whole = value;
    wholeDigits = at - begin;
    fraction = 0;
    fractionDigits = 0;
    if (at < to && bytes[at] == '.') {
      at++;
      begin = at;
      value = 0;
      end = Math.min(to, begin + MAX_DIGITS + 1);
      for (; at < end; at++) {
        int digit = bytes[at] - '0';
        if (digit < 0 || digit > 9) {
          break;
        }
        value = 10 * value + digit;
      }
      fraction = value;
      fractionDigits = at - begin;
    }
    return at == to
        && wholeDigits <= MAX_DIGITS
        && fractionDigits <= MAX_DIGITS
        && wholeDigits + fractionDigits > 0;
  }

  /// Rounds half away from zero, or appends zeros.
  void round(int scale) {
    if (fractionDigits <= scale) {
      fraction *= power(scale - fractionDigits);
    } else {
      long unit = power(fractionDigits - scale);
      long kept = fraction / unit;
      if (2 * (fraction - kept * unit) >= unit) {
        kept++;
      }
      if (kept == power(scale)) {
        kept = 0;
        whole++;
      }
      fraction = kept;
    }
    fractionDigits = scale;
  }
}
