package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.formats.ValueForm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes texts of row batches, within limits. One thread.
final class RowTexts {
  private static final String MORE = "…";
  private static final char UNREADABLE = '\uFFFD';

  private final List<Statement.Column> columns;
  private final ValueForm[] forms;
  private final TextQueries.Limits limits;
  private final BatchView view = new BatchView();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
  private final Output out = new Output(bytes);
  private final List<@Nullable String[]> rows = new ArrayList<>();
  private long kept;
  private boolean cut;

  RowTexts(List<Statement.Column> columns, TextQueries.Limits limits) {
    this.columns = columns;
    this.limits = limits;
    this.forms = new ValueForm[columns.size()];
    for (int i = 0; i < forms.length; i++) {
      forms[i] = ValueForm.of(columns.get(i).typeOid());
    }
  }

  /// Whether there were more rows than the limits allow.
  boolean isCut() {
    return cut;
  }

  void add(MemorySegment batch) {
    view.wrap(batch, forms.length);
    for (int row = 0; row < view.rowCount(); row++) {
      if (rows.size() >= limits.rows() || kept > limits.bytes()) {
        cut = true;
        return;
      }
      long rowAt = view.rowAt(row);
      @Nullable String[] values = new @Nullable String[forms.length];
      for (int column = 0; column < forms.length; column++) {
        if (!view.isNull(rowAt, column)) {
          String value = value(forms[column], view.word(rowAt, column));
          kept += value.length();
          values[column] = value;
        }
      }
      rows.add(values);
    }
  }

  private String value(ValueForm form, long word) {
    return switch (form) {
      case TEXT, JSON, ARRAY, BYTEA ->
          longText(form == ValueForm.BYTEA, view.payloadAt(word), view.payloadBytes(word));
      default -> shortText(form, word);
    };
  }

  private String shortText(ValueForm form, long word) {
    try {
      bytes.reset();
      PlainText.put(out, form, view, word);
      out.drain();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    String text = bytes.toString(StandardCharsets.UTF_8);
    return text.length() <= limits.valueBytes()
        ? text
        : text.substring(0, limits.valueBytes()) + MORE;
  }

  private String longText(boolean hexadecimal, long at, int length) {
    int shown = Math.min(length, hexadecimal ? limits.valueBytes() / 2 : limits.valueBytes());
    byte[] copy = view.memory().asSlice(at, shown).toArray(ValueLayout.JAVA_BYTE);
    String text =
        hexadecimal
            ? "\\x" + HexFormat.of().formatHex(copy)
            : new String(copy, StandardCharsets.UTF_8);
    if (shown == length) {
      return text;
    }
    // The last character may be cut in the middle.
    int end = text.length();
    while (end > 0 && text.charAt(end - 1) == UNREADABLE) {
      end--;
    }
    return text.substring(0, end) + MORE;
  }

  TextResult result(long rowCount) {
    List<TextResult.Column> described = new ArrayList<>(forms.length);
    for (int i = 0; i < forms.length; i++) {
      Statement.Column column = columns.get(i);
      boolean isNumber =
          switch (forms[i]) {
            case INT2, INT4, INT8, FLOAT4, FLOAT8, NUMERIC -> true;
            default -> false;
          };
      described.add(
          new TextResult.Column(
              column.name(), TypeName.of(column.typeOid(), column.typeModifier()), isNumber));
    }
    return new TextResult(List.copyOf(described), rows, rowCount, cut);
  }
}
