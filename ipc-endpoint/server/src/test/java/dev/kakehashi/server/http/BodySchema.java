package dev.kakehashi.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;

/// Whether JSON is as a schema of the OpenAPI document says, with the keywords that the document uses; any other is an error. The module of
/// HTTP checks its own answers with a whole validator.
final class BodySchema {
  private static final Set<String> KNOWN =
      Set.of(
          "$ref",
          "type",
          "required",
          "properties",
          "additionalProperties",
          "items",
          "enum",
          "const",
          "pattern",
          "minimum",
          "maximum",
          "format",
          "description");

  private final JsonNode document;
  private final List<String> errors = new ArrayList<>();

  private BodySchema(JsonNode document) {
    this.document = document;
  }

  /// Errors of a value; empty: none.
  static List<String> errors(JsonNode document, JsonNode schema, JsonNode value) {
    BodySchema check = new BodySchema(document);
    check.check(schema, value, "");
    return check.errors;
  }

  private void check(JsonNode schema, JsonNode value, String at) {
    if (schema.has("$ref")) {
      check(document.at(schema.path("$ref").asText().substring(1)), value, at);
      return;
    }
    schema.fieldNames().forEachRemaining(name -> require(KNOWN.contains(name), at, name));
    if (schema.has("type")) {
      JsonNode type = schema.path("type");
      boolean isOfType =
          type.isArray()
              ? StreamSupport.stream(type.spliterator(), false)
                  .anyMatch(each -> isOf(each.asText(), value))
              : isOf(type.asText(), value);
      require(isOfType, at, "type " + type);
    }
    require(!schema.has("const") || schema.path("const").equals(value), at, "const");
    require(!schema.has("enum") || contains(schema.path("enum"), value), at, "enum");
    require(
        !schema.has("pattern")
            || java.util.regex.Pattern.compile(schema.path("pattern").asText())
                .matcher(value.asText())
                .find(),
        at,
        "pattern");
    require(
        !schema.has("minimum") || value.asDouble() >= schema.path("minimum").asDouble(),
        at,
        "minimum");
    require(
        !schema.has("maximum") || value.asDouble() <= schema.path("maximum").asDouble(),
        at,
        "maximum");
    if (value.isObject()) {
      schema
          .path("required")
          .forEach(name -> require(value.has(name.asText()), at, "required " + name));
      for (Map.Entry<String, JsonNode> member : value.properties()) {
        member(schema, member, at + "/" + member.getKey());
      }
    }
    if (value.isArray() && schema.has("items")) {
      value.forEach(element -> check(schema.path("items"), element, at + "/*"));
    }
  }

  private void member(JsonNode schema, Map.Entry<String, JsonNode> member, String at) {
    JsonNode known = schema.path("properties").path(member.getKey());
    JsonNode others = schema.path("additionalProperties");
    if (!known.isMissingNode()) {
      check(known, member.getValue(), at);
    } else if (others.isObject()) {
      check(others, member.getValue(), at);
    } else if (schema.has("properties")) {
      // Answers may grow in later versions, but this one describes all that it has.
      require(others.asBoolean(), at, "unknown");
    } else {
      require(!others.isBoolean() || others.asBoolean(), at, "unknown");
    }
  }

  private static boolean contains(JsonNode all, JsonNode value) {
    return StreamSupport.stream(all.spliterator(), false).anyMatch(value::equals);
  }

  private static boolean isOf(String type, JsonNode value) {
    return switch (type) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isTextual();
      case "integer" -> value.isIntegralNumber();
      case "number" -> value.isNumber();
      case "boolean" -> value.isBoolean();
      case "null" -> value.isNull();
      default -> false;
    };
  }

  private void require(boolean holds, String at, String what) {
    if (!holds) {
      errors.add(at + ": " + what);
    }
  }
}
