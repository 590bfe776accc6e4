package dev.kakehashi.bulk.csv;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;

/// Splits rows of PostgreSQL's text format.
final class TextFields extends RowFields {
  private final SpecialBytes specials;

  TextFields(CsvOptions options, LineEnd lineEnd, int maxFields, BulkContext context) {
    super(options, lineEnd, maxFields, context);
    specials = new SpecialBytes(delimiter, (byte) '\n', (byte) '\r', (byte) '\\', (byte) '\\');
  }

  @Override
  void begin(byte[] bytes, int begin, int end) {
    super.begin(bytes, begin, end);
    specials.begin(bytes, begin, end);
  }

  @Override
  int split() {
    failure = null;
    scratchEnd = 0;
    int field = 0;
    int begin = at;
    boolean hasEscapes = false;
    while (true) {
      int place = specials.next();
      if (place >= limit) {
        field(field, begin, limit, hasEscapes);
        at = limit;
        return field + 1;
      }
      byte each = data[place];
      if (each == delimiter) {
        field(field++, begin, place, hasEscapes);
        begin = place + 1;
        hasEscapes = false;
      } else if (each == '\\') {
        hasEscapes = true;
        if (place + 1 < limit && data[place + 1] == '.') {
          fail(bad("end-of-copy marker is not alone on its line"));
        }
        specials.skipTo(place + 2);
      } else if (isRowEnd(place, each)) {
        field(field, begin, place, hasEscapes);
        at = place + lineEnd.bytes();
        specials.skipTo(at);
        return field + 1;
      }
    }
  }

  private void field(int field, int begin, int end, boolean hasEscapes) {
    int flag = meaning(begin, end);
    if (flag == 0 && hasEscapes) {
      int start = scratchEnd;
      unescape(begin, end);
      set(field, start, scratchEnd, SCRATCH);
    } else {
      set(field, begin, end, flag);
    }
  }

  private void unescape(int begin, int end) {
    needScratch(end - begin);
    int place = begin;
    while (place < end) {
      byte each = data[place++];
      if (each != '\\') {
        scratch[scratchEnd++] = each;
      } else if (place < end) {
        place = escape(place, end);
      }
    }
  }

  /// Writes what an escape stands for.
  ///
  /// @param begin behind the backslash
  /// @return behind the escape
  private int escape(int begin, int end) {
    byte each = data[begin];
    int place = begin + 1;
    int value =
        switch (each) {
          case 'b' -> '\b';
          case 'f' -> '\f';
          case 'n' -> '\n';
          case 'r' -> '\r';
          case 't' -> '\t';
          case 'v' -> 0x0B;
          default -> each;
        };
    if (each >= '0' && each <= '7') {
      value = each - '0';
      for (int i = 0; i < 2 && place < end && isOctal(data[place]); i++) {
        value = value << 3 | (data[place++] - '0');
      }
    } else if (each == 'x' && place < end && Character.digit(data[place], 16) >= 0) {
      value = Character.digit(data[place++], 16);
      if (place < end && Character.digit(data[place], 16) >= 0) {
        value = value << 4 | Character.digit(data[place++], 16);
      }
    }
    scratch[scratchEnd++] = (byte) value;
    return place;
  }

  private static boolean isOctal(byte each) {
    return each >= '0' && each <= '7';
  }

  @Override
  EngineException stray(byte each) {
    return each == '\n'
        ? bad("literal newline found in data").withHint("Use \"\\n\" to represent newline.")
        : bad("literal carriage return found in data")
            .withHint("Use \"\\r\" to represent carriage return.");
  }
}
