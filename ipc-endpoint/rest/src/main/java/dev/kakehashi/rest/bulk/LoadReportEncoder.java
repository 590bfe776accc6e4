package dev.kakehashi.rest.bulk;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.sql.AnswerFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Writes the one row of a load as an object: `{"read":5,"loaded":3,"rejected":1,"filtered":1,"rejectFile":"out:bad.csv"}`. Members without
/// a value are left out. Not thread-safe.
final class LoadReportEncoder implements RowEncoder {
  static final AnswerFormat FORMAT =
      AnswerFormat.of(ContentType.JSON, "json", LoadReportEncoder::new);

  private static final JsonFactory JSON = new JsonFactory();

  private final BatchView view = new BatchView();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
  private List<Statement.Column> columns = List.of();
  private OutputStream out = OutputStream.nullOutputStream();
  private long written;

  @Override
  public void begin(List<Statement.Column> described, OutputStream stream) {
    columns = described;
    out = stream;
  }

  @Override
  public void rows(MemorySegment batch) throws IOException {
    view.wrap(batch, columns.size());
    for (int row = 0; row < view.rowCount(); row++) {
      try (JsonGenerator json = JSON.createGenerator(bytes)) {
        write(json, view.rowAt(row));
      }
    }
  }

  private void write(JsonGenerator json, long rowAt) throws IOException {
    json.writeStartObject();
    for (int i = 0; i < columns.size(); i++) {
      if (view.isNull(rowAt, i)) {
        continue;
      }
      long word = view.word(rowAt, i);
      switch (columns.get(i).name()) {
        case "rows_read" -> json.writeNumberField("read", word);
        case "rows_loaded" -> json.writeNumberField("loaded", word);
        case "rows_rejected" -> json.writeNumberField("rejected", word);
        case "rows_filtered" -> json.writeNumberField("filtered", word);
        case "reject_file" -> json.writeStringField("rejectFile", text(word));
        case "load_id" -> json.writeStringField("loadId", text(word));
        default -> throw new IllegalStateException("a load reports " + columns.get(i).name());
      }
    }
    json.writeEndObject();
  }

  private String text(long word) {
    long at = view.payloadAt(word);
    byte[] text = view.memory().asSlice(at, view.payloadBytes(word)).toArray(ValueLayout.JAVA_BYTE);
    return new String(text, StandardCharsets.UTF_8);
  }

  @Override
  public void flush() throws IOException {
    written += bytes.size();
    bytes.writeTo(out);
    bytes.reset();
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
