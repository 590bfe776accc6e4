package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.JSON;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The functions of json and jsonb that have types of their own.
public final class JsonFunctions {
  private JsonFunctions() {}

  public static void register(FunctionSet set) {
    JsonAccess.register(set);
    JsonbOperators.register(set);
    JsonbChanges.register(set);
    set.add(
        "jsonb_pretty",
        TEXT,
        (a, _, c) -> Varlena.of(c.heap, JsonbText.pretty(JsonWords.value(a[0]))),
        JSONB);
    Body binary = (a, _, c) -> JsonWords.jsonb(withoutNulls(JsonWords.value(a[0]), isOn(a)), c);
    set.add("jsonb_strip_nulls", JSONB, binary, JSONB);
    set.add("jsonb_strip_nulls", JSONB, binary, JSONB, BOOL);
    Body plain =
        (a, _, c) -> {
          StringBuilder json = new StringBuilder();
          appendCompact(json, withoutNulls(JsonWords.value(a[0]), isOn(a)));
          return Varlena.of(c.heap, json.toString());
        };
    set.add("json_strip_nulls", JSON, plain, JSON);
    set.add("json_strip_nulls", JSON, plain, JSON, BOOL);
    for (int oid : new int[] {JSON, JSONB}) {
      String name = (oid == JSON ? "json" : "jsonb") + "_object";
      set.add(
          name,
          oid,
          (a, _, c) -> JsonWords.made(oid, object(pairs(ArrayTypes.array(a[0]))), c),
          JsonWords.TEXT_ARRAY);
      set.add(
          name,
          oid,
          (a, _, c) ->
              JsonWords.made(oid, object(pairs(ArrayTypes.array(a[0]), ArrayTypes.array(a[1]))), c),
          JsonWords.TEXT_ARRAY,
          JsonWords.TEXT_ARRAY);
    }
  }

  /// Whether there is a second argument, and it is true.
  private static boolean isOn(long[] arguments) {
    return arguments.length > 1 && arguments[1] != 0;
  }

  /// @param inArrays whether elements that are null go, too
  private static JsonValue withoutNulls(JsonValue value, boolean inArrays) {
    return switch (value) {
      case JsonValue.Array array ->
          JsonValue.ofArray(
              array.elements().stream()
                  .filter(element -> !inArrays || !(element instanceof JsonValue.Null))
                  .map(element -> withoutNulls(element, inArrays))
                  .toList());
      case JsonValue.JsonObject object ->
          new JsonValue.JsonObject(
              "",
              object.members().stream()
                  .filter(member -> !(member.value() instanceof JsonValue.Null))
                  .map(member ->
                      new JsonValue.Member(member.key(), withoutNulls(member.value(), inArrays)))
                  .toList());
      default -> value;
    };
  }

  /// A value without blanks.
  private static void appendCompact(StringBuilder json, JsonValue value) {
    switch (value) {
      case JsonValue.Array array -> {
        String separator = "[";
        for (JsonValue element : array.elements()) {
          json.append(separator);
          appendCompact(json, element);
          separator = ",";
        }
        json.append(array.elements().isEmpty() ? "[]" : "]");
      }
      case JsonValue.JsonObject object -> {
        String separator = "{";
        for (JsonValue.Member member : object.members()) {
          json.append(separator).append(JsonbText.quoted(member.key())).append(':');
          appendCompact(json, member.value());
          separator = ",";
        }
        json.append(object.members().isEmpty() ? "{}" : "}");
      }
      case JsonValue.Text text -> json.append(JsonbText.quoted(text.value()));
      default -> json.append(value.source());
    }
  }

  /// Keys and values one after the other.
  private static List<@Nullable String> pairs(ArrayValue array) {
    if (array.dimensions() > 2) {
      throw SqlErrors.arraySubscript("wrong number of array subscripts");
    }
    if (array.dimensions() == 2 && array.lengths().get(1) != 2) {
      throw SqlErrors.arraySubscript("array must have two columns");
    }
    if (array.elements().size() % 2 != 0) {
      throw SqlErrors.arraySubscript("array must have even number of elements");
    }
    return array.elements();
  }

  private static List<@Nullable String> pairs(ArrayValue keys, ArrayValue values) {
    if (keys.dimensions() > 1 || values.dimensions() > 1) {
      throw SqlErrors.arraySubscript("wrong number of array subscripts");
    }
    if (keys.elements().size() != values.elements().size()) {
      throw SqlErrors.arraySubscript("mismatched array dimensions");
    }
    List<@Nullable String> pairs = new ArrayList<>();
    for (int i = 0; i < keys.elements().size(); i++) {
      pairs.add(keys.elements().get(i));
      pairs.add(values.elements().get(i));
    }
    return pairs;
  }

  private static String object(List<@Nullable String> pairs) {
    StringBuilder json = new StringBuilder("{");
    for (int i = 0; i < pairs.size(); i += 2) {
      String key = pairs.get(i);
      String value = pairs.get(i + 1);
      if (key == null) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key");
      }
      json.append(i == 0 ? "" : ", ").append(JsonbText.quoted(key)).append(" : ");
      json.append(value == null ? "null" : JsonbText.quoted(value));
    }
    return json.append('}').toString();
  }
}
