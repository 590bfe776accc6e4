package dev.kakehashi.bulk.value;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Exact types of a typed file's columns, beside the types of its format: the value of the key [#KEY], a JSON object.
///
/// ```
/// {"version":1,"query":"…","timeZone":"UTC","columns":[{"name":"a","type":"numeric(10,2)","nullable":true,"labels":["…"]}, …]}
/// ```
///
/// Members that are not known are skipped, so that later versions can be read.
///
/// @param query text of the table or query
/// @param columns in the order of the file
public record ExactTypes(String query, List<Column> columns) {
  /// Key of the metadata.
  public static final String KEY = "kakehashi.schema";

  private static final int VERSION = 1;
  private static final int MAX_CHARACTERS = 16 << 20;
  private static final int MAX_COLUMNS = 1 << 16;
  private static final int MAX_LABELS = 1 << 16;

  /// Times without a zone are those of this one in a file.
  private static final String TIME_ZONE = "UTC";

  private static final JsonFactory JSON = new JsonFactory();

  /// A column.
  ///
  /// @param type as SQL writes it, with its modifier
  /// @param labels of an enum
  public record Column(String name, String type, boolean nullable, List<String> labels) {
    public Column {
      labels = List.copyOf(labels);
    }
  }

  public ExactTypes {
    columns = List.copyOf(columns);
  }

  public static ExactTypes of(String query, List<LoadColumn> columns) {
    return new ExactTypes(
        query,
        columns.stream()
            .map(column ->
                new Column(column.name(), column.typeName(), column.nullable(), column.labels()))
            .toList());
  }

  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = JSON.createGenerator(text)) {
      out.writeStartObject();
      out.writeNumberField("version", VERSION);
      out.writeStringField("query", query);
      out.writeStringField("timeZone", TIME_ZONE);
      out.writeArrayFieldStart("columns");
      for (Column column : columns) {
        out.writeStartObject();
        out.writeStringField("name", column.name());
        out.writeStringField("type", column.type());
        out.writeBooleanField("nullable", column.nullable());
        if (!column.labels().isEmpty()) {
          out.writeArrayFieldStart("labels");
          for (String label : column.labels()) {
            out.writeString(label);
          }
          out.writeEndArray();
        }
        out.writeEndObject();
      }
      out.writeEndArray();
      out.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /// Reads what a file says; null: it is not understood, and as good as none.
  public static @Nullable ExactTypes read(String json) {
    if (json.length() > MAX_CHARACTERS) {
      return null;
    }
    try (JsonParser parser = JSON.createParser(json)) {
      return parser.nextToken() == JsonToken.START_OBJECT ? read(parser) : null;
    } catch (IOException e) {
      // Others may write the key, too: without it the file's own types hold.
      return null;
    }
  }

  private static @Nullable ExactTypes read(JsonParser parser) throws IOException {
    String query = "";
    List<Column> columns = new ArrayList<>();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken token = parser.nextToken();
      if ("query".equals(name) && token == JsonToken.VALUE_STRING) {
        query = parser.getText();
      } else if ("columns".equals(name) && token == JsonToken.START_ARRAY) {
        while (parser.nextToken() == JsonToken.START_OBJECT) {
          if (columns.size() == MAX_COLUMNS) {
            return null;
          }
          columns.add(column(parser));
        }
      } else {
        parser.skipChildren();
      }
    }
    return new ExactTypes(query, columns);
  }

  private static Column column(JsonParser parser) throws IOException {
    String columnName = "";
    String type = "";
    boolean nullable = true;
    List<String> labels = new ArrayList<>();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken token = parser.nextToken();
      if ("name".equals(name) && token == JsonToken.VALUE_STRING) {
        columnName = parser.getText();
      } else if ("type".equals(name) && token == JsonToken.VALUE_STRING) {
        type = parser.getText();
      } else if ("nullable".equals(name)) {
        nullable = token != JsonToken.VALUE_FALSE;
      } else if ("labels".equals(name) && token == JsonToken.START_ARRAY) {
        while (parser.nextToken() == JsonToken.VALUE_STRING && labels.size() < MAX_LABELS) {
          labels.add(parser.getText());
        }
      } else {
        parser.skipChildren();
      }
    }
    return new Column(columnName, type, nullable, labels);
  }
}
