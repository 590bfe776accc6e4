package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/// Files in memory, and rows as texts.
final class CsvFiles {
  private CsvFiles() {}

  static LoadColumn column(String name, int oid) {
    return column(name, oid, -1);
  }

  static LoadColumn column(String name, int oid, int modifier) {
    return new LoadColumn(name, oid, modifier, TypeName.of(oid, modifier), true, List.of());
  }

  /// Columns of type text: a, b, c, …
  static List<LoadColumn> texts(int count) {
    List<LoadColumn> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      columns.add(column(Character.toString('a' + i), TypeOid.TEXT));
    }
    return columns;
  }

  static CsvOptions.Builder csv() {
    return CsvOptions.builder(true);
  }

  static CsvOptions.Builder text() {
    return CsvOptions.builder(false);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /// A file of bytes.
  record Bytes(String name, byte[] content) implements FileInput {
    @Override
    public long sizeBytes() {
      return content.length;
    }

    @Override
    public void read(long offset, MemorySegment into) {
      if (offset + into.byteSize() > content.length) {
        throw new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "file has ended");
      }
      MemorySegment.copy(MemorySegment.ofArray(content), offset, into, 0, into.byteSize());
    }
  }

  /// A file that is written into memory.
  static final class Written implements FileOutput {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @Override
    public void write(byte[] source, int from, int count) {
      bytes.write(source, from, count);
    }

    @Override
    public void write(ByteBuffer source) {
      byte[] copy = new byte[source.remaining()];
      source.get(copy);
      bytes.writeBytes(copy);
    }

    @Override
    public long position() {
      return bytes.size();
    }
  }

  /// Memory with a limit, and how much of it is taken.
  static final class Memory implements BulkContext {
    private final long limit;
    private final AtomicLong reserved = new AtomicLong();

    Memory(long limit) {
      this.limit = limit;
    }

    long reserved() {
      return reserved.get();
    }

    @Override
    public void checkCanceled() {
      // Nobody cancels.
    }

    @Override
    public void reserveMemory(long bytes) {
      if (reserved.addAndGet(bytes) > limit) {
        reserved.addAndGet(-bytes);
        throw new EngineException(ErrorCode.OUT_OF_MEMORY, "no more memory");
      }
    }

    @Override
    public long now() {
      return Clock.now();
    }

    @Override
    public void releaseMemory(long bytes) {
      reserved.addAndGet(-bytes);
    }
  }

  /// Contents of a file.
  ///
  /// @param rows values as PostgreSQL writes them, `<null>` for null, with `|` between them
  /// @param rejected `line:byte:SQLSTATE:message:raw`
  /// @param read rows, with those rejected
  /// @param parts that the file had
  record Read(List<String> rows, List<String> rejected, long read, int parts) {}

  static Read read(CsvOptions options, List<LoadColumn> columns, byte[] content) {
    return read(options, columns, content, CsvFile.PART_BYTES);
  }

  static Read read(CsvOptions options, List<LoadColumn> columns, byte[] content, int partBytes) {
    Memory memory = new Memory(1L << 28);
    Read read;
    try (RowsFile file =
        new CsvFile(new Bytes("in:x.csv", content), options, columns, false, partBytes, memory)) {
      List<LoadColumn> loaded = new ArrayList<>();
      for (int index : file.columns()) {
        loaded.add(columns.get(index));
      }
      read = read(file, loaded);
    }
    if (memory.reserved() != 0) {
      throw new AssertionError(memory.reserved() + " bytes are still taken");
    }
    return read;
  }

  private static Read read(RowsFile file, List<LoadColumn> columns) {
    List<String> rows = new ArrayList<>();
    List<String> rejected = new ArrayList<>();
    long count = 0;
    int parts = 0;
    for (RowsPart part = file.next(); part != null; part = file.next()) {
      try (RowsPart open = part) {
        parts++;
        for (MemorySegment batch = open.next((o, e) -> rejected.add(show(o, e)));
            batch != null;
            batch = open.next((o, e) -> rejected.add(show(o, e)))) {
          rows.addAll(rows(batch, columns));
        }
        count += open.rows();
      }
    }
    return new Read(rows, rejected, count, parts);
  }

  private static String show(dev.kakehashi.bulk.format.RowOrigin origin, EngineException e) {
    return "%d:%d:%s:%s:%s"
        .formatted(
            origin.line(),
            origin.byteOffset(),
            e.code().sqlstate(),
            e.getMessage(),
            new String(origin.raw(), StandardCharsets.UTF_8));
  }

  static List<String> rows(MemorySegment batch, List<LoadColumn> columns) {
    BatchView view = new BatchView();
    view.wrap(batch, columns.size());
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < view.rowCount(); row++) {
      long at = view.rowAt(row);
      StringBuilder shown = new StringBuilder();
      for (int i = 0; i < columns.size(); i++) {
        shown.append(i > 0 ? "|" : "");
        shown.append(view.isNull(at, i) ? "<null>" : value(view, view.word(at, i), columns.get(i)));
      }
      rows.add(shown.toString());
    }
    return rows;
  }

  private static String value(BatchView view, long word, LoadColumn column) {
    ValueForm form = column.labels().isEmpty() ? ValueForm.of(column.typeOid()) : ValueForm.TEXT;
    if (form == ValueForm.TEXT || form == ValueForm.JSON || form == ValueForm.ARRAY) {
      byte[] bytes = new byte[view.payloadBytes(word)];
      MemorySegment.copy(
          view.memory(), ValueLayout.JAVA_BYTE, view.payloadAt(word), bytes, 0, bytes.length);
      return new String(bytes, StandardCharsets.UTF_8);
    }
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    Output out = new Output(text);
    try {
      PlainText.put(out, form, view, word);
      out.drain();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return text.toString(StandardCharsets.UTF_8);
  }
}
