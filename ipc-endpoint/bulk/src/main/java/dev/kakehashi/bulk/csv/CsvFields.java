package dev.kakehashi.bulk.csv;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;

/// Splits rows of CSV.
final class CsvFields extends RowFields {
  private final byte quote;
  private final byte escape;
  private final boolean[] neverNull;
  private final boolean[] everNull;
  private final SpecialBytes specials;

  /// @param neverNull columns whose values are not compared to the null text
  /// @param everNull columns whose values are compared to it in quotes, too
  CsvFields(
      CsvOptions options,
      LineEnd lineEnd,
      int maxFields,
      boolean[] neverNull,
      boolean[] everNull,
      BulkContext context) {
    super(options, lineEnd, maxFields, context);
    this.quote = options.quote();
    this.escape = options.escape();
    this.neverNull = neverNull;
    this.everNull = everNull;
    this.specials =
        new SpecialBytes(
            delimiter, (byte) '\n', (byte) '\r', quote, escape == quote ? quote : escape);
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
    while (true) {
      int place = specials.next();
      if (place >= limit) {
        unquoted(field, begin, limit);
        at = limit;
        return field + 1;
      }
      byte each = data[place];
      if (each == delimiter) {
        unquoted(field++, begin, place);
        begin = place + 1;
      } else if (each == quote) {
        int end = quoted(field, begin, place);
        specials.skipTo(end);
        if (end >= limit) {
          at = limit;
          return field + 1;
        }
        if (data[end] != delimiter) {
          endRow(end);
          return field + 1;
        }
        specials.skipTo(end + 1);
        begin = end + 1;
        field++;
      } else if ((each == '\n' || each == '\r') && isRowEnd(place, each)) {
        unquoted(field, begin, place);
        endRow(place);
        return field + 1;
      }
    }
  }

  private void endRow(int place) {
    at = place + lineEnd.bytes();
    specials.skipTo(at);
  }

  private void unquoted(int field, int begin, int end) {
    int slot = slot(field);
    int flag = meaning(begin, end);
    if (flag == NULL && slot < neverNull.length && neverNull[slot]) {
      flag = 0;
    }
    from[slot] = begin;
    to[slot] = end;
    flags[slot] = flag;
  }

  /// A field with quotes.
  ///
  /// @param begin of the field
  /// @param place of the first quote
  /// @return where the delimiter or line end is behind it
  private int quoted(int field, int begin, int place) {
    if (place == begin) {
      int close = closing();
      if (close >= 0 && close + 1 < limit && isFieldEnd(close + 1)) {
        keep(field, data, begin + 1, close, 0);
        return close + 1;
      }
    }
    int start = scratchEnd;
    int end = unquote(begin);
    keep(field, scratch, start, scratchEnd, SCRATCH);
    return end;
  }

  private void keep(int field, byte[] bytes, int begin, int end, int flag) {
    int slot = slot(field);
    boolean isNull = slot < everNull.length && everNull[slot] && isNullText(bytes, begin, end);
    set(field, begin, end, isNull ? NULL : flag);
  }

  /// The next quote, if no escape comes before it; -1 otherwise.
  private int closing() {
    int place = specials.next();
    while (place < limit) {
      byte each = data[place];
      if (each == quote) {
        return place;
      }
      if (each == escape) {
        return -1;
      }
      place = specials.next();
    }
    return -1;
  }

  private boolean isFieldEnd(int place) {
    byte each = data[place];
    if (each == delimiter) {
      return true;
    }
    return switch (lineEnd) {
      case LF -> each == '\n';
      case CR -> each == '\r';
      case CRLF -> each == '\r' && place + 1 < limit && data[place + 1] == '\n';
    };
  }

  /// Copies a field without its quotes and escapes.
  ///
  /// @return where the delimiter or line end is behind it
  private int unquote(int begin) {
    boolean inQuotes = false;
    int place = begin;
    for (; place < limit; place++) {
      byte each = data[place];
      if (inQuotes) {
        if (each == escape && place + 1 < limit && isQuoteOrEscape(data[place + 1])) {
          place++;
          each = data[place];
        } else if (each == quote) {
          inQuotes = false;
          continue;
        }
      } else if (each == quote) {
        inQuotes = true;
        continue;
      } else if (each == delimiter || ((each == '\n' || each == '\r') && isRowEnd(place, each))) {
        return place;
      }
      needScratch(1);
      scratch[scratchEnd++] = each;
    }
    if (inQuotes) {
      fail(bad("unterminated CSV quoted field"));
    }
    return place;
  }

  private boolean isQuoteOrEscape(byte each) {
    return each == quote || each == escape;
  }

  @Override
  EngineException stray(byte each) {
    return each == '\n'
        ? bad("unquoted newline found in data")
            .withHint("Use quoted CSV field to represent newline.")
        : bad("unquoted carriage return found in data")
            .withHint("Use quoted CSV field to represent carriage return.");
  }
}
