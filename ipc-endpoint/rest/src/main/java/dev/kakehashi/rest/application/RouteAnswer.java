package dev.kakehashi.rest.application;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Format;
import dev.kakehashi.formats.FormatOptions;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.sql.AnswerFormat;
import dev.kakehashi.rest.sql.WholeAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes the one row of a route as a JSON object, or the one value of a result that is no record. Numbers are numbers. Not thread-safe.
final class RouteAnswer implements WholeAnswer {
  /// Column that names the class of a result of several classes.
  private static final String KIND = "kind";

  private final Map<String, Integer> statuses;
  private final boolean isValue;
  private final RowEncoder lines;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
  private final BatchView view = new BatchView();
  private List<Statement.Column> columns = List.of();
  private OutputStream out = OutputStream.nullOutputStream();
  private @Nullable Integer status;
  private long written;
  private boolean hasRow;

  private RouteAnswer(RouteSignature route) {
    statuses = route.statuses();
    var result = route.procedure().result();
    isValue = result.size() == 1 && result.getFirst().name().isEmpty();
    lines =
        RowEncoder.of(
            Format.NDJSON,
            FormatOptions.of(Format.NDJSON).withObjects(!isValue).withJsonNumbers(true));
    if (statuses.size() == 1 && result.stream().noneMatch(field -> field.name().equals(KIND))) {
      status = statuses.values().iterator().next();
    }
  }

  static AnswerFormat format(RouteSignature route) {
    return AnswerFormat.of(ContentType.JSON, "json", () -> new RouteAnswer(route));
  }

  @Override
  public void begin(List<Statement.Column> described, OutputStream stream) throws IOException {
    columns = described;
    out = stream;
    lines.begin(described, bytes);
    // Arrays are described before their first row.
    lines.flush();
    bytes.reset();
  }

  @Override
  public void rows(MemorySegment batch) throws IOException {
    if (hasRow || columns.isEmpty()) {
      return;
    }
    view.wrap(batch, columns.size());
    if (view.rowCount() == 0) {
      return;
    }
    hasRow = true;
    readKind(view.rowAt(0));
    lines.rows(batch);
    lines.flush();
    byte[] line = bytes.toByteArray();
    bytes.reset();
    int end = 0;
    while (end < line.length && line[end] != '\n') {
      end++;
    }
    // A value stands in an array of one.
    int from = isValue ? 1 : 0;
    int to = isValue ? end - 1 : end;
    out.write(line, from, to - from);
    written += to - from;
  }

  private void readKind(long rowAt) {
    for (int i = 0; i < columns.size(); i++) {
      Statement.Column column = columns.get(i);
      if (column.name().equals(KIND)
          && column.typeOid() == TypeOid.TEXT
          && !view.isNull(rowAt, i)) {
        long word = view.word(rowAt, i);
        byte[] text =
            view.memory()
                .asSlice(view.payloadAt(word), view.payloadBytes(word))
                .toArray(ValueLayout.JAVA_BYTE);
        status = statuses.getOrDefault(new String(text, StandardCharsets.UTF_8), status);
      }
    }
  }

  @Override
  public int status(int usual) {
    return status == null ? usual : status;
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void end(long rowCount) throws IOException {
    flush();
  }

  @Override
  public void fail(byte[] problem) throws IOException {
    flush();
  }

  @Override
  public long byteCount() {
    return written;
  }
}
