package dev.kakehashi.tools.shell.print;

import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.ValueForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Frames rows of the forms `unaligned` and `csv` of psql, across or one value below the other. Values go to the output between
/// [#beginValue] calls. Not thread-safe.
final class PlainRows {
  private final PrintOptions options;
  private final Output out;
  private final byte[][] names;
  private final byte[] separator;
  private final byte[] record;

  /// First byte of the separator.
  private final byte mark;

  private final boolean csv;
  private final boolean down;
  private long rows;

  PlainRows(PrintOptions options, Output out, List<String> names) {
    this.options = options;
    this.out = out;
    this.csv = options.format == PrintFormat.CSV;
    this.down = options.expanded == PrintOptions.Expanded.ON;
    this.separator = bytes(csv ? options.csvSeparator : options.fieldSeparator);
    this.mark = separator.length > 0 ? separator[0] : (byte) ',';
    this.record = bytes(csv ? "\n" : options.recordSeparator);
    this.names = names.stream().map(PlainRows::bytes).toArray(byte[][]::new);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /// Whether values have to come by [#text], but those of a form that is plain.
  boolean isQuoting() {
    return csv;
  }

  /// Whether no value of a form needs quotes: numbers, times and the like have letters, digits, blanks and a few signs.
  boolean isPlain(ValueForm form) {
    return switch (form) {
      case TEXT, JSON, ARRAY -> false;
      default -> mark == ',' || mark == ';' || mark == '|' || mark == '\t';
    };
  }

  void begin() throws IOException {
    if (down || options.tuplesOnly) {
      return;
    }
    if (!csv && !options.title.isEmpty()) {
      out.put(bytes(options.title));
      out.put(record);
    }
    for (int i = 0; i < names.length; i++) {
      if (i > 0) {
        out.put(separator);
      }
      text(names[i]);
    }
    out.put(csv ? bytes("\n") : record);
  }

  void beginRow() throws IOException {
    if (down && !csv && rows > 0) {
      out.put(record);
    }
    rows++;
  }

  void beginValue(int column) throws IOException {
    if (!down) {
      if (column > 0) {
        put(separator);
      }
      return;
    }
    if (column > 0) {
      out.put(record);
    }
    text(names[column]);
    out.put(separator);
  }

  /// Writes a value, with quotes if the form needs them.
  void text(byte[] value) throws IOException {
    text(value, 0, value.length);
  }

  /// The same with bytes of an array.
  void text(byte[] value, int from, int count) throws IOException {
    if (!csv || !needsQuotes(value, from, count)) {
      out.put(value, from, count);
      return;
    }
    out.put('"');
    for (int i = from; i < from + count; i++) {
      if (value[i] == '"') {
        out.put('"');
      }
      out.put(value[i]);
    }
    out.put('"');
  }

  private boolean needsQuotes(byte[] value, int from, int count) {
    if (count == 2 && value[from] == '\\' && value[from + 1] == '.') {
      return true;
    }
    if (mark == '\\' || mark == '.') {
      return true;
    }
    for (int i = from; i < from + count; i++) {
      byte each = value[i];
      if (each == mark || each == '"' || each == '\n' || each == '\r') {
        return true;
      }
    }
    return false;
  }

  void endRow() throws IOException {
    put(record);
  }

  /// Mostly one byte.
  private void put(byte[] bytes) throws IOException {
    if (bytes.length == 1) {
      out.put(bytes[0]);
    } else {
      out.put(bytes);
    }
  }

  void end(String footer) throws IOException {
    if (!csv && !down && !options.tuplesOnly && options.footer) {
      out.put(bytes(footer));
      out.put('\n');
    }
  }
}
