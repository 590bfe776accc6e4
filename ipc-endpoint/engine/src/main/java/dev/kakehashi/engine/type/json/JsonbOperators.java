package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Operators of jsonb: containment, concatenation, deletion.
final class JsonbOperators {
  private JsonbOperators() {}

  static void register(FunctionSet set) {
    set.add("@>", BOOL, (a, _, _) -> contains(a[0], a[1]) ? 1 : 0, JSONB, JSONB);
    set.add("<@", BOOL, (a, _, _) -> contains(a[1], a[0]) ? 1 : 0, JSONB, JSONB);
    set.add(
        "||",
        JSONB,
        (a, _, c) -> JsonWords.jsonb(concatenated(JsonWords.value(a[0]), JsonWords.value(a[1])), c),
        JSONB,
        JSONB);
    set.add(
        "-",
        JSONB,
        (a, _, c) ->
            JsonWords.jsonb(without(JsonWords.value(a[0]), Set.of(Varlena.string(a[1]))), c),
        JSONB,
        TEXT);
    set.add("-", JSONB, (a, _, c) -> JsonWords.jsonb(withoutElement(a[0], a[1]), c), JSONB, INT4);
    set.add(
        "-",
        JSONB,
        (a, _, c) -> {
          Set<String> keys = new TreeSet<>();
          for (String key : JsonWords.path(a[1])) {
            if (key != null) {
              keys.add(key);
            }
          }
          return JsonWords.jsonb(without(JsonWords.value(a[0]), keys), c);
        },
        JSONB,
        JsonWords.TEXT_ARRAY);
  }

  private static boolean contains(long outer, long inner) {
    JsonValue value = JsonWords.value(outer);
    JsonValue part = JsonWords.value(inner);
    // An array contains a scalar that is one of its elements.
    if (value instanceof JsonValue.Array array && isScalar(part)) {
      return array.elements().stream().anyMatch(element -> JsonbOrder.compare(element, part) == 0);
    }
    return contains(value, part);
  }

  static boolean isScalar(JsonValue value) {
    return !(value instanceof JsonValue.Array) && !(value instanceof JsonValue.JsonObject);
  }

  private static boolean contains(JsonValue value, JsonValue part) {
    Interrupts.check();
    if (value instanceof JsonValue.JsonObject object
        && part instanceof JsonValue.JsonObject other) {
      for (JsonValue.Member member : other.members()) {
        JsonValue found = JsonAccess.member(object, member.key());
        if (found == null || !contains(found, member.value())) {
          return false;
        }
      }
      return true;
    }
    if (value instanceof JsonValue.Array array && part instanceof JsonValue.Array other) {
      for (JsonValue wanted : other.elements()) {
        if (array.elements().stream().noneMatch(element -> contains(element, wanted))) {
          return false;
        }
      }
      return true;
    }
    return isScalar(value) && isScalar(part) && JsonbOrder.compare(value, part) == 0;
  }

  private static JsonValue concatenated(JsonValue left, JsonValue right) {
    if (left instanceof JsonValue.JsonObject object
        && right instanceof JsonValue.JsonObject other) {
      Map<String, JsonValue> members = JsonbText.members(object);
      members.putAll(JsonbText.members(other));
      return JsonValue.ofMembers(members);
    }
    List<JsonValue> elements = new ArrayList<>(elements(left));
    elements.addAll(elements(right));
    return JsonValue.ofArray(elements);
  }

  private static List<JsonValue> elements(JsonValue value) {
    return value instanceof JsonValue.Array array ? array.elements() : List.of(value);
  }

  private static JsonValue without(JsonValue value, Set<String> keys) {
    return switch (value) {
      case JsonValue.JsonObject object -> {
        Map<String, JsonValue> members = JsonbText.members(object);
        members.keySet().removeAll(keys);
        yield JsonValue.ofMembers(members);
      }
      case JsonValue.Array array ->
          JsonValue.ofArray(
              array.elements().stream()
                  .filter(element ->
                      !(element instanceof JsonValue.Text text && keys.contains(text.value())))
                  .toList());
      default -> throw JsonWords.refused("cannot delete from scalar");
    };
  }

  private static JsonValue withoutElement(long word, long index) {
    JsonValue value = JsonWords.value(word);
    if (!(value instanceof JsonValue.Array array)) {
      throw JsonWords.refused(
          value instanceof JsonValue.JsonObject
              ? "cannot delete from object using integer index"
              : "cannot delete from scalar");
    }
    @Nullable JsonValue gone = JsonAccess.element(array, index);
    if (gone == null) {
      return array;
    }
    List<JsonValue> elements = new ArrayList<>(array.elements());
    elements.remove((int) (index < 0 ? elements.size() + index : index));
    return JsonValue.ofArray(elements);
  }
}
