package dev.kakehashi.tools.shell.print;

import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Format;
import dev.kakehashi.formats.FormatOptions;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Prints a result in one of the forms. Unaligned rows, CSV and JSON are written as they come, so that a result of any length takes
/// constant memory; a table is kept until its widths are known. Not thread-safe.
public final class ResultPrinter {
  /// Gives the batches of a result.
  @FunctionalInterface
  public interface Batches {
    /// @return a row batch, valid until the next call; null: no more
    @Nullable MemorySegment next() throws IOException;
  }

  private final PrintOptions options;
  private final OutputStream out;

  public ResultPrinter(PrintOptions options, OutputStream out) {
    this.options = options;
    this.out = out;
  }

  /// @return rows printed
  public long print(List<ResultColumn> columns, Batches batches) throws IOException {
    return switch (options.format) {
      case ALIGNED -> aligned(columns, batches);
      case UNALIGNED, CSV -> plain(columns, batches);
      case JSON -> json(columns, batches);
    };
  }

  /// Prints texts, as commands of the shell have them.
  ///
  /// @param footer null: the number of rows
  public void print(Cells cells, @Nullable String footer) throws IOException {
    String below = footer == null ? count(cells.rows().size()) : footer;
    switch (options.format) {
      case ALIGNED ->
          out.write(AlignedPrinter.print(cells, options, below).getBytes(StandardCharsets.UTF_8));
      case UNALIGNED, CSV -> {
        Output output = new Output(out);
        PlainRows rows = new PlainRows(options, output, cells.names());
        rows.begin();
        for (@Nullable String[] row : cells.rows()) {
          rows.beginRow();
          for (int i = 0; i < row.length; i++) {
            rows.beginValue(i);
            String value = row[i];
            rows.text((value == null ? options.nullText : value).getBytes(StandardCharsets.UTF_8));
          }
          rows.endRow();
        }
        rows.end(below);
        output.flush();
      }
      case JSON -> throw new IllegalArgumentException("descriptions have no form of JSON");
    }
    out.flush();
  }

  static String count(long rows) {
    return rows == 1 ? "(1 row)" : "(" + rows + " rows)";
  }

  private static ValueForm[] forms(List<ResultColumn> columns) {
    ValueForm[] forms = new ValueForm[columns.size()];
    for (int i = 0; i < forms.length; i++) {
      forms[i] = ValueForm.of(columns.get(i).typeOid());
    }
    return forms;
  }

  /// Whether psql aligns a type to the right.
  static boolean isRight(int typeOid) {
    return switch (typeOid) {
      case TypeOid.INT2,
          TypeOid.INT4,
          TypeOid.INT8,
          TypeOid.FLOAT4,
          TypeOid.FLOAT8,
          TypeOid.NUMERIC ->
          true;
      default -> false;
    };
  }

  /// All rows as texts.
  public static Cells cells(List<ResultColumn> columns, Batches batches) throws IOException {
    List<String> names = new ArrayList<>();
    List<Boolean> right = new ArrayList<>();
    for (ResultColumn column : columns) {
      names.add(column.name());
      right.add(isRight(column.typeOid()));
    }
    Cells cells = Cells.of(names, right);
    ValueForm[] forms = forms(columns);
    BatchView view = new BatchView();
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    Output output = new Output(text);
    for (MemorySegment batch = batches.next(); batch != null; batch = batches.next()) {
      view.wrap(batch, forms.length);
      for (int row = 0; row < view.rowCount(); row++) {
        long rowAt = view.rowAt(row);
        @Nullable String[] values = new String[forms.length];
        for (int i = 0; i < forms.length; i++) {
          if (!view.isNull(rowAt, i)) {
            PlainText.put(output, forms[i], view, view.word(rowAt, i));
            output.drain();
            values[i] = text.toString(StandardCharsets.UTF_8);
            text.reset();
          }
        }
        cells.rows().add(values);
      }
    }
    return cells;
  }

  private long aligned(List<ResultColumn> columns, Batches batches) throws IOException {
    Cells cells = cells(columns, batches);
    print(cells, null);
    return cells.rows().size();
  }

  private long plain(List<ResultColumn> columns, Batches batches) throws IOException {
    ValueForm[] forms = forms(columns);
    Output output = new Output(out);
    PlainRows rows =
        new PlainRows(options, output, columns.stream().map(ResultColumn::name).toList());
    byte[] nullText = options.nullText.getBytes(StandardCharsets.UTF_8);
    BatchView view = BatchView.copying();
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    Output quoted = new Output(text);
    long count = 0;
    rows.begin();
    for (MemorySegment batch = batches.next(); batch != null; batch = batches.next()) {
      view.wrap(batch, forms.length);
      for (int row = 0; row < view.rowCount(); row++) {
        long rowAt = view.rowAt(row);
        rows.beginRow();
        for (int i = 0; i < forms.length; i++) {
          rows.beginValue(i);
          if (view.isNull(rowAt, i)) {
            rows.text(nullText);
          } else if (!rows.isQuoting() || rows.isPlain(forms[i])) {
            PlainText.put(output, forms[i], view, view.word(rowAt, i));
          } else if (view.isCopied() && isText(forms[i])) {
            long word = view.word(rowAt, i);
            long at = view.payloadAt(word);
            rows.text(view.bytes(), (int) at, view.payloadBytes(word));
          } else {
            PlainText.put(quoted, forms[i], view, view.word(rowAt, i));
            if (text.size() == 0) {
              rows.text(quoted.bytes, 0, quoted.at);
              quoted.at = 0;
            } else { // longer than the buffer
              quoted.drain();
              rows.text(text.toByteArray());
              text.reset();
            }
          }
        }
        rows.endRow();
      }
      count += view.rowCount();
    }
    rows.end(count(count));
    output.flush();
    return count;
  }

  /// Whether values are in batches as they are printed.
  private static boolean isText(ValueForm form) {
    return form == ValueForm.TEXT || form == ValueForm.JSON || form == ValueForm.ARRAY;
  }

  private long json(List<ResultColumn> columns, Batches batches) throws IOException {
    FormatOptions form = FormatOptions.of(Format.NDJSON).withObjects(true);
    RowEncoder encoder = RowEncoder.of(Format.NDJSON, form);
    OutputStream lines = out;
    encoder.begin(
        columns.stream()
            .map(each -> new Statement.Column(each.name(), each.typeOid(), each.typeModifier()))
            .toList(),
        lines);
    long count = 0;
    BatchView view = new BatchView();
    for (MemorySegment batch = batches.next(); batch != null; batch = batches.next()) {
      view.wrap(batch, columns.size());
      count += view.rowCount();
      encoder.rows(batch);
    }
    encoder.flush();
    return count;
  }
}
