package dev.kakehashi.engine.type.json;

import java.util.List;
import java.util.Map;

/// A JSON value. What `json` shows is its text as it was written; `jsonb` has a text of its own, which [JsonbText] writes.
sealed interface JsonValue {
  /// The text as it was written, without blanks around it.
  String source();

  /// What json_typeof() calls it.
  String typeName();

  record Null(String source) implements JsonValue {
    @Override
    public String typeName() {
      return "null";
    }
  }

  record Bool(String source, boolean value) implements JsonValue {
    @Override
    public String typeName() {
      return "boolean";
    }
  }

  /// The source is the number.
  record JsonNumber(String source) implements JsonValue {
    @Override
    public String typeName() {
      return "number";
    }
  }

  record Text(String source, String value) implements JsonValue {
    @Override
    public String typeName() {
      return "string";
    }
  }

  record Array(String source, List<JsonValue> elements) implements JsonValue {
    @Override
    public String typeName() {
      return "array";
    }
  }

  /// One member of an object; a key may be there more than once in `json`.
  record Member(String key, JsonValue value) {}

  record JsonObject(String source, List<Member> members) implements JsonValue {
    @Override
    public String typeName() {
      return "object";
    }
  }

  Null NULL = new Null("null");

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
