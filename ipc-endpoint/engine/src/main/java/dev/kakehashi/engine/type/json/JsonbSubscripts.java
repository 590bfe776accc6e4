package dev.kakehashi.engine.type.json;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// `j['a'][0] = x`: a jsonb with another value at the end of a path, of which what is missing is made.
public final class JsonbSubscripts {
  private static final int BYTES_OF_NULL = "null, ".length();

  private final List<String> path;
  private final JsonValue value;

  private JsonbSubscripts(List<String> path, JsonValue value) {
    this.path = path;
    this.value = value;
  }

  /// The function of an assignment: jsonb, value, path.
  ///
  /// @param ofArray what is null becomes an array, and not an object
  public static ScalarFunction assignment(boolean ofArray) {
    return new ScalarFunction(
        ofArray ? "jsonb_set_element" : "jsonb_set_field",
        new int[] {TypeOid.JSONB, TypeOid.JSONB, JsonWords.TEXT_ARRAY},
        TypeOid.JSONB,
        false,
        true,
        (a, nulls, c) -> assigned(a, nulls, ofArray, c));
  }

  private static long assigned(long[] a, long nulls, boolean ofArray, FunctionContext context) {
    List<String> steps = new ArrayList<>();
    for (String step : JsonWords.path(a[2])) {
      if (step == null) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED, "jsonb subscript in assignment must not be null");
      }
      steps.add(step);
    }
    JsonValue nothing =
        ofArray ? JsonValue.ofArray(List.of()) : JsonValue.ofMembers(new LinkedHashMap<>());
    JsonValue target = (nulls & 1) != 0 ? nothing : JsonWords.value(a[0]);
    JsonValue value = (nulls & 2) != 0 ? JsonWords.NULL : JsonWords.value(a[1]);
    return JsonWords.jsonb(new JsonbSubscripts(steps, value).at(target, 0), context);
  }

  private JsonValue at(JsonValue target, int level) {
    if (level == path.size()) {
      return value;
    }
    return switch (target) {
      case JsonValue.JsonObject object -> {
        Map<String, JsonValue> members = JsonbText.members(object);
        String key = path.get(level);
        JsonValue found = members.get(key);
        members.put(key, found == null ? made(level + 1) : at(found, level + 1));
        yield JsonValue.ofMembers(members);
      }
      case JsonValue.Array array -> inArray(array, level);
      default ->
          throw JsonWords.refused("cannot replace existing key")
              .withDetail("The path assumes key is a composite object, but it is a scalar value.");
    };
  }

  private JsonValue inArray(JsonValue.Array array, int level) {
    Integer given = JsonAccess.index(path.get(level));
    if (given == null) {
      throw SqlErrors.invalidSyntaxMessage(
          "path element at position "
              + (level + 1)
              + " is not an integer: \""
              + path.get(level)
              + "\"");
    }
    List<JsonValue> elements = new ArrayList<>(array.elements());
    int size = elements.size();
    if (given < -size) {
      throw JsonWords.refused(
          "path element at position " + (level + 1) + " is out of range: " + given);
    }
    int index = given < 0 ? size + given : given;
    if (index < size) {
      elements.set(index, at(elements.get(index), level + 1));
    } else {
      fill(elements, index);
      elements.add(made(level + 1));
    }
    return JsonValue.ofArray(elements);
  }

  /// Value that is made for the path from a level on where there is nothing: arrays where a step is a number, else objects.
  private JsonValue made(int level) {
    if (level == path.size()) {
      return value;
    }
    Integer index = JsonAccess.index(path.get(level));
    if (index == null) {
      return JsonValue.ofMembers(Map.of(path.get(level), made(level + 1)));
    }
    List<JsonValue> elements = new ArrayList<>();
    fill(elements, index);
    elements.add(made(level + 1));
    return JsonValue.ofArray(elements);
  }

  private static void fill(List<JsonValue> elements, int size) {
    if ((long) (size - elements.size()) * BYTES_OF_NULL > Varlena.MAX_BYTES) {
      throw SqlErrors.lengthTooLarge();
    }
    while (elements.size() < size) {
      elements.add(JsonWords.NULL);
    }
  }
}
