package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.PieceStream;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.formats.coding.CodedOutput;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Writes CSV or text format, byte for byte as PostgreSQL's `COPY … TO`. Not thread-safe.
final class CsvOutput implements RowsOutput {
  private final PieceStream file;
  private final CsvOptions options;
  private final List<LoadColumn> columns;
  private final ValueForm[] forms;

  /// Columns whose values may need quotes or escapes.
  private final boolean[] mayNeed;

  private final boolean[] forced;
  private final byte[] nullText;
  private final boolean hasPieces;
  private final CodedOutput coded;
  private final Output out;
  private final FieldText text;
  private final BatchView view = new BatchView();
  private final ByteArrayOutputStream side = new ByteArrayOutputStream();
  private final Output sideOut = new Output(side);
  private long rowCount;
  private boolean isEnded;

  CsvOutput(FileOutput file, CsvOptions options, List<LoadColumn> columns) {
    this(new PieceStream(file), options, columns, options.header().lines() > 0);
  }

  private CsvOutput(
      PieceStream file, CsvOptions options, List<LoadColumn> columns, boolean hasHeader) {
    this.file = file;
    this.options = options;
    this.columns = columns;
    this.nullText = options.nullText().getBytes(StandardCharsets.UTF_8);
    this.text = FieldText.of(options, columns.size() == 1);
    int count = columns.size();
    forms = new ValueForm[count];
    mayNeed = new boolean[count];
    forced = new boolean[count];
    boolean isCareful = isCareful(options);
    for (int i = 0; i < count; i++) {
      LoadColumn column = columns.get(i);
      forms[i] = column.labels().isEmpty() ? ValueForm.of(column.typeOid()) : ValueForm.TEXT;
      forced[i] = options.forceQuote().has(column.name());
      mayNeed[i] = isCareful || forced[i] || (forms[i] == ValueForm.BYTEA && !options.isCsv());
    }
    Coding coding = options.compression().coding();
    hasPieces = coding == Coding.IDENTITY;
    coded = coding.encode(file, Coding.DEFAULT_LEVEL);
    out = new Output(coded);
    if (hasHeader) {
      writing(() -> {
        header();
        if (hasPieces) {
          // Before anybody writes behind it.
          out.drain();
          file.end();
        }
      });
    }
  }

  /// Whether numbers, dates and the like may have bytes that mean something, or be the null text.
  private static boolean isCareful(CsvOptions options) {
    String nulls = options.nullText();
    boolean byNull =
        options.isCsv()
            && !nulls.isEmpty()
            && (nulls.charAt(0) == '\\' ? nulls.startsWith("\\x") : isPlain(nulls.charAt(0)));
    return byNull
        || isPlain((char) options.delimiter())
        || (options.isCsv() && isPlain((char) options.quote()));
  }

  /// Whether texts of numbers, dates and the like have it.
  private static boolean isPlain(char c) {
    return Character.isLetterOrDigit(c) || "+-.: \\".indexOf(c) >= 0;
  }

  /// Something that writes.
  private interface Writing {
    void run() throws IOException;
  }

  private static void writing(Writing writing) {
    try {
      writing.run();
    } catch (IOException e) {
      throw new EngineException(ErrorCode.IO_ERROR, "could not write file: " + e.getMessage(), e);
    }
  }

  private void header() throws IOException {
    for (int i = 0; i < columns.size(); i++) {
      if (i > 0) {
        out.put(options.delimiter());
      }
      byte[] name = columns.get(i).name().getBytes(StandardCharsets.UTF_8);
      text.put(out, MemorySegment.ofArray(name), 0, name.length, false);
    }
    out.put('\n');
  }

  /// Only without compression, which has its end where the file has it.
  @Override
  public RowsOutput another() {
    return new CsvOutput(file.another(), options, columns, false);
  }

  @Override
  public void rows(MemorySegment batch) {
    try {
      writing(() -> {
        write(batch);
        if (hasPieces) {
          out.drain();
          file.endPiece();
        }
      });
    } finally {
      // Another thread may go on.
      file.release();
    }
  }

  private void write(MemorySegment batch) throws IOException {
    view.wrap(batch, forms.length);
    for (int row = 0; row < view.rowCount(); row++) {
      long rowAt = view.rowAt(row);
      for (int column = 0; column < forms.length; column++) {
        if (column > 0) {
          out.put(options.delimiter());
        }
        if (view.isNull(rowAt, column)) {
          if (nullText.length > 0) {
            out.put(nullText);
          }
        } else {
          value(column, view.word(rowAt, column));
        }
      }
      out.put('\n');
    }
    rowCount += view.rowCount();
  }

  private void value(int column, long word) throws IOException {
    ValueForm form = forms[column];
    if (form == ValueForm.TEXT || form == ValueForm.JSON || form == ValueForm.ARRAY) {
      long at = view.payloadAt(word);
      text.put(out, view.memory(), at, view.payloadBytes(word), forced[column]);
    } else if (mayNeed[column]) {
      side.reset();
      PlainText.put(sideOut, form, view, word);
      sideOut.drain();
      byte[] plain = side.toByteArray();
      text.put(out, MemorySegment.ofArray(plain), 0, plain.length, forced[column]);
    } else {
      PlainText.put(out, form, view, word);
    }
  }

  @Override
  public long rowCount() {
    return rowCount;
  }

  @Override
  public long estimatedBytes() {
    return file.position() + out.at;
  }

  @Override
  public void end() {
    writing(() -> {
      out.drain();
      coded.close();
      file.end();
    });
    isEnded = true;
  }

  @Override
  public void close() {
    if (!isEnded) {
      coded.abort();
    }
    file.release();
  }
}
