package dev.kakehashi.formats;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// Every type with its extremes and nulls: values.json as parameters, and what PostgreSQL 15 made of the same values by
/// `COPY … TO STDOUT (FORMAT csv, HEADER)` with time zone UTC in copy.csv.
final class Samples {
  static final JsonFactory JSON = new JsonFactory();
  static final JsonParameters.Limits LIMITS = new JsonParameters.Limits(1000, 1 << 22);

  final List<Statement.Column> columns = new ArrayList<>();
  final ParameterBatch batch;

  Samples() throws IOException {
    try (InputStream in = resource("values.json");
        JsonParser parser = JSON.createParser(in)) {
      while (!"columns".equals(parser.nextFieldName())) {
        // the object's beginning
      }
      parser.nextToken();
      while (parser.nextToken() == JsonToken.START_OBJECT) {
        parser.nextFieldName();
        String name = parser.nextTextValue();
        parser.nextFieldName();
        columns.add(new Statement.Column(name, parser.nextIntValue(0), -1));
        parser.nextToken();
      }
      parser.nextFieldName();
      parser.nextToken();
      batch = JsonParameters.rows(parser, typeOids(), LIMITS);
    }
  }

  int[] typeOids() {
    return columns.stream().mapToInt(Statement.Column::typeOid).toArray();
  }

  static InputStream resource(String name) {
    return Objects.requireNonNull(Samples.class.getResourceAsStream(name), name);
  }

  byte[] encoded(RowEncoder encoder) throws IOException {
    return encoded(encoder, columns, batch);
  }

  static byte[] encoded(RowEncoder encoder, List<Statement.Column> columns, ParameterBatch batch)
      throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    encoder.begin(columns, out);
    if (batch.rowCount() > 0) {
      encoder.rows(batch.batch());
    }
    encoder.end(batch.rowCount());
    return out.toByteArray();
  }

  /// A row of one statement, from JSON.
  static ParameterBatch row(String json, int... typeOids) throws IOException {
    try (JsonParser parser = JSON.createParser(json)) {
      parser.nextToken();
      return JsonParameters.row(parser, typeOids, LIMITS);
    }
  }
}
