package dev.kakehashi.engine.type.json;

import java.util.List;
import java.util.Map;

/// A JSON value. `json` shows its text as it was written; `jsonb` has a text of its own, which [JsonbText] writes.
sealed interface JsonValue {
  /// The text as it was written, without blanks around it.
  String source();

  /// Name of the type, as json_typeof() gives it.
  default String typeName() {
    return switch (this) {
      case Null _ -> "null";
      case Bool _ -> "boolean";
      case JsonNumber _ -> "number";
      case Text _ -> "string";
      case Array _ -> "array";
      case JsonObject _ -> "object";
    };
  }

  record Null(String source) implements JsonValue {}

  record Bool(String source, boolean value) implements JsonValue {}

  /// The source is the number.
  record JsonNumber(String source) implements JsonValue {}

  record Text(String source, String value) implements JsonValue {}

  record Array(String source, List<JsonValue> elements) implements JsonValue {}

  /// One member of an object; a key may be there more than once in `json`.
  record Member(String key, JsonValue value) {}

  record JsonObject(String source, List<Member> members) implements JsonValue {}

  static JsonValue ofText(String value) {
    return new Text(JsonbText.quoted(value), value);
  }

  static JsonValue ofBoolean(boolean value) {
    return new Bool(value ? "true" : "false", value);
  }

  static JsonValue ofArray(List<JsonValue> elements) {
    return new Array("", elements);
  }

  static JsonValue ofMembers(Map<String, JsonValue> members) {
    return new JsonObject(
        "", members.entrySet().stream().map(e -> new Member(e.getKey(), e.getValue())).toList());
  }
}
