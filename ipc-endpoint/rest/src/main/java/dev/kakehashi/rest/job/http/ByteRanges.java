package dev.kakehashi.rest.job.http;

import java.util.ArrayList;
import java.util.List;

/// The ranges of a file that a request asks for (RFC 9110, 14). Stateless.
final class ByteRanges {
  /// Most ranges of a request.
  static final int MAX_RANGES = 16;

  private static final String UNIT = "bytes=";
  private static final int MAX_CHARACTERS = 1_000;

  /// Ways to answer.
  sealed interface Wanted {
    /// There is no range, or one that may be ignored: of another unit, or not well formed.
    record Whole() implements Wanted {}

    /// In the order of the request; not overlapping.
    record Parts(List<Range> ranges) implements Wanted {
      public Parts {
        ranges = List.copyOf(ranges);
      }
    }

    /// None of them is in the file, or they are too many or overlap: 416.
    record Refused(String why) implements Wanted {}
  }

  /// @param from first byte
  /// @param length at least 1
  record Range(long from, long length) {
    /// As in `Content-Range`.
    String of(long size) {
      return "bytes " + from + "-" + (from + length - 1) + "/" + size;
    }

    private boolean overlaps(Range other) {
      return from < other.from + other.length && other.from < from + length;
    }
  }

  private ByteRanges() {}

  /// @param field the request's `Range`
  /// @param size of the file, in bytes
  static Wanted parse(String field, long size) {
    if (!field.regionMatches(true, 0, UNIT, 0, UNIT.length())) {
      return new Wanted.Whole();
    }
    if (field.length() > MAX_CHARACTERS) {
      return new Wanted.Refused("the ranges are too many");
    }
    List<Range> ranges = new ArrayList<>();
    for (String text : field.substring(UNIT.length()).split(",", -1)) {
      String spec = text.strip();
      if (spec.isEmpty()) {
        continue;
      }
      int dash = spec.indexOf('-');
      if (dash < 0 || !isNumber(spec, 0, dash) || !isNumber(spec, dash + 1, spec.length())) {
        return new Wanted.Whole();
      }
      if (spec.length() == 1) {
        return new Wanted.Whole();
      }
      if (dash > 0
          && dash < spec.length() - 1
          && number(spec, dash + 1, spec.length()) < number(spec, 0, dash)) {
        return new Wanted.Whole();
      }
      Range range = range(spec, dash, size);
      if (range.length() > 0) {
        ranges.add(range);
      }
    }
    if (ranges.isEmpty()) {
      return new Wanted.Refused("no range is within the file, which has " + size + " bytes");
    }
    return check(ranges);
  }

  private static Wanted check(List<Range> ranges) {
    if (ranges.size() > MAX_RANGES) {
      return new Wanted.Refused("a request may have " + MAX_RANGES + " ranges");
    }
    for (int i = 0; i < ranges.size(); i++) {
      for (int j = 0; j < i; j++) {
        if (ranges.get(i).overlaps(ranges.get(j))) {
          return new Wanted.Refused("the ranges overlap");
        }
      }
    }
    return new Wanted.Parts(ranges);
  }

  /// @return of length 0 or less: not within the file
  private static Range range(String spec, int dash, long size) {
    if (dash == 0) {
      long last = Math.min(number(spec, 1, spec.length()), size);
      return new Range(size - last, last);
    }
    long from = number(spec, 0, dash);
    long to =
        dash == spec.length() - 1
            ? size - 1
            : Math.min(number(spec, dash + 1, spec.length()), size - 1);
    return new Range(from, to - from + 1);
  }

  private static boolean isNumber(String text, int from, int to) {
    for (int i = from; i < to; i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }

  /// Numbers that are too long are beyond any file.
  private static long number(String text, int from, int to) {
    int begin = from;
    while (begin < to - 1 && text.charAt(begin) == '0') {
      begin++;
    }
    return to - begin > 18 ? Long.MAX_VALUE / 2 : Long.parseLong(text, begin, to, 10);
  }
}
