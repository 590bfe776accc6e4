package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.JSON;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.Varlena;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Operators and functions that look into json and jsonb. The text of jsonb is written one way only, so that a part of it is a jsonb.
public final class JsonAccess {
  private JsonAccess() {}

  public static void register(FunctionSet set) {
    for (int oid : new int[] {JSON, JSONB}) {
      String prefix = oid == JSON ? "json" : "jsonb";
      Body field = (a, _, c) -> JsonWords.text(source(member(value(a), key(a))), c);
      Body fieldText = (a, _, c) -> JsonWords.text(shown(member(value(a), key(a))), c);
      boolean binary = oid == JSONB;
      Body element = (a, _, c) -> JsonWords.text(source(element(a, binary)), c);
      Body elementText = (a, _, c) -> JsonWords.text(shown(element(a, binary)), c);
      Body path = (a, _, c) -> JsonWords.text(atPath(a, binary, false), c);
      Body pathText = (a, _, c) -> JsonWords.text(atPath(a, binary, true), c);
      add(set, "->", oid, field, oid, TEXT);
      add(set, "->>", TEXT, fieldText, oid, TEXT);
      add(set, "->", oid, element, oid, INT4);
      add(set, "->>", TEXT, elementText, oid, INT4);
      add(set, "#>", oid, path, oid, JsonWords.TEXT_ARRAY);
      add(set, "#>>", TEXT, pathText, oid, JsonWords.TEXT_ARRAY);
      add(set, prefix + "_object_field", oid, field, oid, TEXT);
      add(set, prefix + "_object_field_text", TEXT, fieldText, oid, TEXT);
      add(set, prefix + "_array_element", oid, element, oid, INT4);
      add(set, prefix + "_array_element_text", TEXT, elementText, oid, INT4);
      set.add(
          prefix + "_typeof",
          TEXT,
          (a, _, c) -> Varlena.of(c.heap, JsonParser.asWritten(Varlena.string(a[0])).typeName()),
          oid);
      set.add(
          prefix + "_array_length",
          INT4,
          (a, _, _) -> {
            JsonValue value = JsonParser.asWritten(Varlena.string(a[0]));
            if (!(value instanceof JsonValue.Array array)) {
              throw JsonWords.refused(
                  value instanceof JsonValue.JsonObject
                      ? "cannot get array length of a non-array"
                      : "cannot get array length of a scalar");
            }
            return array.elements().size();
          },
          oid);
    }
    set.add("?", BOOL, (a, _, _) -> exists(value(a), key(a)) ? 1 : 0, JSONB, TEXT);
    set.add("?|", BOOL, (a, _, _) -> exists(a, false) ? 1 : 0, JSONB, JsonWords.TEXT_ARRAY);
    set.add("?&", BOOL, (a, _, _) -> exists(a, true) ? 1 : 0, JSONB, JsonWords.TEXT_ARRAY);
    set.add("jsonb_exists", BOOL, (a, _, _) -> exists(value(a), key(a)) ? 1 : 0, JSONB, TEXT);
    set.add(
        "jsonb_exists_any",
        BOOL,
        (a, _, _) -> exists(a, false) ? 1 : 0,
        JSONB,
        JsonWords.TEXT_ARRAY);
    set.add(
        "jsonb_exists_all",
        BOOL,
        (a, _, _) -> exists(a, true) ? 1 : 0,
        JSONB,
        JsonWords.TEXT_ARRAY);
  }

  /// A function that may give null for anything.
  private static void add(FunctionSet set, String name, int result, Body body, int... arguments) {
    set.add(
        new ScalarFunction(
            name,
            arguments,
            result,
            false,
            true,
            (a, nulls, c) -> nulls != 0 ? c.nullResult() : body.apply(a, nulls, c)));
  }

  private static JsonValue value(long[] a) {
    return JsonWords.value(a[0]);
  }

  private static String key(long[] a) {
    return Varlena.string(a[1]);
  }

  static @Nullable String source(@Nullable JsonValue value) {
    return value == null ? null : value.source();
  }

  static @Nullable String text(@Nullable JsonValue value, boolean shown) {
    return shown ? shown(value) : source(value);
  }

  /// A value as text: a string without quotes, and nothing for `null`.
  static @Nullable String shown(@Nullable JsonValue value) {
    return switch (value) {
      case null -> null;
      case JsonValue.Null _ -> null;
      case JsonValue.Text text -> text.value();
      default -> value.source();
    };
  }

  /// The value of a key, the last one of equal ones.
  static @Nullable JsonValue member(JsonValue value, String key) {
    JsonValue found = null;
    if (value instanceof JsonValue.JsonObject object) {
      for (JsonValue.Member member : object.members()) {
        if (member.key().equals(key)) {
          found = member.value();
        }
      }
    }
    return found;
  }

  /// An element, counted from 0, or backwards from -1.
  static @Nullable JsonValue element(JsonValue value, long index) {
    if (!(value instanceof JsonValue.Array array)) {
      return null;
    }
    int size = array.elements().size();
    long at = index < 0 ? size + index : index;
    return at < 0 || at >= size ? null : array.elements().get((int) at);
  }

  /// An element; a scalar of jsonb is the only element of itself.
  private static @Nullable JsonValue element(long[] a, boolean binary) {
    JsonValue value = value(a);
    boolean scalar = JsonWords.kind(value).equals("scalar");
    return binary && scalar && (a[1] == 0 || a[1] == -1) ? value : element(value, a[1]);
  }

  private static @Nullable String atPath(long[] a, boolean binary, boolean asText) {
    List<@Nullable String> path = JsonWords.path(a[1]);
    // PostgreSQL does not look at the value then, which may have escapes that are no characters.
    for (String step : path) {
      if (step == null) {
        return null;
      }
    }
    JsonValue found = find(value(a), path);
    String text = text(found, asText);
    if (binary
        || !path.isEmpty()
        || found == null
        || text == null
        || !JsonWords.kind(found).equals("scalar")
        || !text.equals(found.source())) {
      return text;
    }
    // The whole of a json that is a scalar is what was written, but for the blanks behind it.
    String whole = Varlena.string(a[0]);
    return whole.substring(0, whole.lastIndexOf(text) + text.length());
  }

  /// The value at the end of a path; null if there is none, or the path has a null.
  static @Nullable JsonValue find(JsonValue value, List<@Nullable String> path) {
    if (path.isEmpty()) {
      return value;
    }
    String step = path.getFirst();
    if (step == null) {
      return null;
    }
    List<@Nullable String> rest = path.subList(1, path.size());
    JsonValue found = null;
    if (value instanceof JsonValue.Array) {
      Integer index = index(step);
      JsonValue element = index == null ? null : element(value, index);
      found = element == null ? null : find(element, rest);
    } else if (value instanceof JsonValue.JsonObject object) {
      // The last one of equal keys counts in which the path goes on to its end.
      for (JsonValue.Member member : object.members()) {
        JsonValue end = member.key().equals(step) ? find(member.value(), rest) : null;
        found = end == null ? found : end;
      }
    }
    return found;
  }

  /// The subscript that a step of a path says, as C reads numbers.
  static @Nullable Integer index(String step) {
    String number = step.stripLeading();
    int digits = !number.isEmpty() && (number.charAt(0) == '-' || number.charAt(0) == '+') ? 1 : 0;
    if (number.length() == digits
        || number.length() > digits + 15
        || !number.substring(digits).chars().allMatch(c -> c >= '0' && c <= '9')) {
      return null;
    }
    long value = Long.parseLong(number);
    return value == (int) value ? (int) value : null;
  }

  private static boolean exists(JsonValue value, String key) {
    return switch (value) {
      case JsonValue.JsonObject object ->
          object.members().stream().anyMatch(member -> member.key().equals(key));
      case JsonValue.Array array ->
          array.elements().stream().anyMatch(element -> isText(element, key));
      default -> isText(value, key);
    };
  }

  private static boolean isText(JsonValue value, String text) {
    return value instanceof JsonValue.Text string && string.value().equals(text);
  }

  private static boolean exists(long[] a, boolean all) {
    JsonValue value = value(a);
    for (String key : JsonWords.path(a[1])) {
      if (key != null && exists(value, key) != all) {
        return !all;
      }
    }
    return all;
  }
}
