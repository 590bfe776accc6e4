package dev.kakehashi.formats;

import dev.kakehashi.engine.api.Statement;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// CSV, byte for byte as PostgreSQL's `COPY … TO … (FORMAT csv)`: lines end with `\n`, null is nothing, an empty string is `""`, quotes
/// only where needed.
final class CsvEncoder implements RowEncoder {
  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long HIGHS = 0x8080_8080_8080_8080L;

  private final FormatOptions options;
  private final BatchView view = new BatchView();
  private Output out = new Output(OutputStream.nullOutputStream());
  private ValueForm[] forms = {};

  CsvEncoder(FormatOptions options) {
    this.options = options;
  }

  @Override
  public void begin(List<Statement.Column> columns, OutputStream stream) throws IOException {
    forms = new ValueForm[columns.size()];
    for (int i = 0; i < forms.length; i++) {
      forms[i] = ValueForm.of(columns.get(i).typeOid());
    }
    out = new Output(stream);
    if (options.header() && forms.length > 0) {
      for (int i = 0; i < forms.length; i++) {
        if (i > 0) {
          out.put(',');
        }
        byte[] name = columns.get(i).name().getBytes(StandardCharsets.UTF_8);
        text(MemorySegment.ofArray(name), 0, name.length);
      }
      out.put('\n');
    }
  }

  @Override
  public void rows(MemorySegment batch) throws IOException {
    view.wrap(batch, forms.length);
    for (int row = 0; row < view.rowCount(); row++) {
      long rowAt = view.rowAt(row);
      for (int column = 0; column < forms.length; column++) {
        if (column > 0) {
          out.put(',');
        }
        if (!view.isNull(rowAt, column)) {
          value(forms[column], view.word(rowAt, column));
        }
      }
      out.put('\n');
    }
  }

  private void value(ValueForm form, long word) throws IOException {
    if (form == ValueForm.TEXT || form == ValueForm.JSON || form == ValueForm.ARRAY) {
      long at = view.payloadAt(word);
      text(view.memory(), at, view.payloadBytes(word));
    } else {
      // No such text has a character that needs quotes.
      PlainText.put(out, form, view, word);
    }
  }

  private void text(MemorySegment memory, long from, int length) throws IOException {
    if (isPlain(memory, from, length)) {
      out.put(memory, from, length);
      return;
    }
    out.put('"');
    for (long at = from; at < from + length; at++) {
      byte each = memory.get(ValueLayout.JAVA_BYTE, at);
      out.need(2);
      if (each == '"') {
        out.bytes[out.at++] = '"';
      }
      out.bytes[out.at++] = each;
    }
    out.put('"');
  }

  /// Whether a text needs no quotes. `\.` alone on a line would end the data for older readers.
  private boolean isPlain(MemorySegment memory, long from, int length) {
    if (length == 0) {
      return false;
    }
    long end = from + length;
    long at = from;
    for (; at + 8 <= end; at += 8) {
      long eight = memory.get(BatchView.I64, at);
      long found = zeros(eight ^ ONES * ',') | zeros(eight ^ ONES * '"');
      found |= zeros(eight ^ ONES * '\n') | zeros(eight ^ ONES * '\r');
      if (found != 0) {
        return false;
      }
    }
    for (; at < end; at++) {
      byte each = memory.get(ValueLayout.JAVA_BYTE, at);
      if (each == ',' || each == '"' || each == '\n' || each == '\r') {
        return false;
      }
    }
    return !(forms.length == 1
        && length == 2
        && memory.get(ValueLayout.JAVA_BYTE, from) == '\\'
        && memory.get(ValueLayout.JAVA_BYTE, from + 1) == '.');
  }

  /// Not 0 if one of eight bytes is.
  private static long zeros(long eight) {
    return (eight - ONES) & ~eight & HIGHS;
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void end(long rowCount) throws IOException {
    out.flush();
  }

  @Override
  public void fail(byte[] problem) throws IOException {
    out.flush();
  }

  @Override
  public long byteCount() {
    return out.drained();
  }
}
