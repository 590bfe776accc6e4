package dev.kakehashi.rest.monitor;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.rest.route.RestApplication;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/// The description of all routes (OpenAPI 3.1), merged of parts that are written by hand: files of the folder `openapi`, and those of
/// applications.
///
/// A part is an object with `paths` and `components`, whose members have names of their own among all parts. The first one has the rest of
/// the document. Immutable.
public final class OpenApiDocument {
  private static final List<String> PARTS =
      List.of(
          "document.json",
          "login.json",
          "monitor.json",
          "sql.json",
          "transactions.json",
          "jobs.json",
          "tables.json",
          "copy.json",
          "rows.json",
          "uploads.json",
          "queues.json",
          "applications.json");
  private static final List<String> SECTIONS =
      List.of("schemas", "responses", "parameters", "headers", "securitySchemes");
  private static final JsonFactory JSON = new JsonFactory();

  private final byte[] bytes;
  private final String etag;

  private OpenApiDocument(byte[] bytes) {
    this.bytes = bytes;
    CRC32C sum = new CRC32C();
    sum.update(bytes);
    this.etag = "\"" + Long.toHexString(sum.getValue()) + "\"";
  }

  /// Reads and merges the parts.
  ///
  /// @throws IllegalArgumentException the part of an application is broken
  public static OpenApiDocument of(List<RestApplication> applications) {
    List<byte[]> parts = new ArrayList<>();
    PARTS.forEach(name -> parts.add(resource(name)));
    for (RestApplication application : applications) {
      if (application.openApi().length > 0) {
        parts.add(application.openApi());
      }
    }
    try {
      return new OpenApiDocument(merge(parts));
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "a part of the OpenAPI document is broken: " + e.getMessage(), e);
    }
  }

  /// UTF-8 JSON. Nobody changes it.
  public byte[] bytes() {
    return bytes;
  }

  /// As the field `ETag` has it.
  public String etag() {
    return etag;
  }

  private static byte[] resource(String name) {
    try (InputStream in = OpenApiDocument.class.getResourceAsStream("openapi/" + name)) {
      if (in == null) {
        throw new IllegalStateException("the part " + name + " of the OpenAPI document is missing");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] merge(List<byte[]> parts) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      copyOthers(parts.getFirst(), json);
      json.writeObjectFieldStart("paths");
      for (byte[] part : parts) {
        copyMembers(part, json, "paths");
      }
      json.writeEndObject();
      json.writeObjectFieldStart("components");
      for (String section : SECTIONS) {
        json.writeObjectFieldStart(section);
        for (byte[] part : parts) {
          copyMembers(part, json, "components", section);
        }
        json.writeEndObject();
      }
      json.writeEndObject();
      json.writeEndObject();
    }
    return out.toByteArray();
  }

  /// Members that are not merged.
  private static void copyOthers(byte[] part, JsonGenerator json) throws IOException {
    try (JsonParser parser = JSON.createParser(part)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (name.equals("paths") || name.equals("components")) {
          parser.skipChildren();
        } else {
          json.writeFieldName(name);
          json.copyCurrentStructure(parser);
        }
      }
    }
  }

  /// Members of the object at a path, if there is one.
  private static void copyMembers(byte[] part, JsonGenerator json, String... path)
      throws IOException {
    try (JsonParser parser = JSON.createParser(part)) {
      parser.nextToken();
      for (String name : path) {
        if (!enter(parser, name)) {
          return;
        }
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        json.writeFieldName(parser.currentName());
        parser.nextToken();
        json.copyCurrentStructure(parser);
      }
    }
  }

  private static boolean enter(JsonParser parser, String name) throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean isIt = parser.currentName().equals(name);
      parser.nextToken();
      if (isIt) {
        return true;
      }
      parser.skipChildren();
    }
    return false;
  }
}
