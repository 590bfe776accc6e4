package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// jsonb_set(), jsonb_insert() and `#-`: a value with something else at the end of a path.
final class JsonbChanges {
  /// Change at the end of the path.
  private enum Change {
    REPLACE,
    CREATE,
    INSERT_BEFORE,
    INSERT_AFTER,
    DELETE;

    boolean adds() {
      return this == CREATE || this == INSERT_BEFORE || this == INSERT_AFTER;
    }
  }

  private final List<@Nullable String> path;
  private final Change change;
  private final JsonValue value;

  private JsonbChanges(List<@Nullable String> path, Change change, JsonValue value) {
    this.path = path;
    this.change = change;
    this.value = value;
  }

  static void register(FunctionSet set) {
    int path = JsonWords.TEXT_ARRAY;
    set.add(
        "jsonb_set",
        JSONB,
        (a, _, c) -> JsonWords.jsonb(changed(a, Change.CREATE, "set"), c),
        JSONB,
        path,
        JSONB);
    set.add(
        "jsonb_set",
        JSONB,
        (a, _, c) ->
            JsonWords.jsonb(changed(a, a[3] != 0 ? Change.CREATE : Change.REPLACE, "set"), c),
        JSONB,
        path,
        JSONB,
        BOOL);
    for (int count = 3; count <= 5; count++) {
      set.add(
          new ScalarFunction(
              "jsonb_set_lax",
              Arrays.copyOf(new int[] {JSONB, path, JSONB, BOOL, TEXT}, count),
              JSONB,
              false,
              true,
              JsonbChanges::setLax));
    }
    set.add(
        "jsonb_insert",
        JSONB,
        (a, _, c) -> JsonWords.jsonb(changed(a, Change.INSERT_BEFORE, "set"), c),
        JSONB,
        path,
        JSONB);
    set.add(
        "jsonb_insert",
        JSONB,
        (a, _, c) ->
            JsonWords.jsonb(
                changed(a, a[3] != 0 ? Change.INSERT_AFTER : Change.INSERT_BEFORE, "set"), c),
        JSONB,
        path,
        JSONB,
        BOOL);
    set.add(
        "#-",
        JSONB,
        (a, _, c) -> JsonWords.jsonb(changed(a, Change.DELETE, "delete"), c),
        JSONB,
        path);
    set.add(
        "jsonb_delete_path",
        JSONB,
        (a, _, c) -> JsonWords.jsonb(changed(a, Change.DELETE, "delete"), c),
        JSONB,
        path);
  }

  /// jsonb_set() to which a null says what to do.
  private static long setLax(long[] a, long nulls, FunctionContext context) {
    if ((nulls & 0b1011) != 0) {
      return context.nullResult();
    }
    Change change = a.length > 3 && a[3] == 0 ? Change.REPLACE : Change.CREATE;
    if ((nulls & 0b10000) != 0) {
      throw badNullTreatment();
    }
    if ((nulls & 0b100) == 0) {
      return JsonWords.jsonb(changed(a, change, "set"), context);
    }
    return switch (a.length > 4 ? Varlena.string(a[4]) : "use_json_null") {
      case "raise_exception" ->
          throw new EngineException(
              ErrorCode.NULL_VALUE_NOT_ALLOWED, "JSON value must not be null");
      case "use_json_null" -> {
        long[] withNull = a.clone();
        withNull[2] = Varlena.of(context.heap, "null");
        yield JsonWords.jsonb(changed(withNull, change, "set"), context);
      }
      case "delete_key" -> JsonWords.jsonb(changed(a, Change.DELETE, "delete"), context);
      case "return_target" -> a[0];
      default -> throw badNullTreatment();
    };
  }

  private static EngineException badNullTreatment() {
    return JsonWords.refused(
        "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"");
  }

  private static JsonValue changed(long[] a, Change change, String what) {
    ArrayValue steps = ArrayTypes.array(a[1]);
    if (steps.dimensions() > 1) {
      throw SqlErrors.arraySubscript("wrong number of array subscripts");
    }
    JsonValue target = JsonWords.value(a[0]);
    List<@Nullable String> path = steps.elements();
    if (JsonWords.kind(target).equals("scalar")) {
      throw JsonWords.refused("cannot " + what + " path in scalar");
    }
    boolean empty =
        target instanceof JsonValue.Array array
            ? array.elements().isEmpty()
            : target instanceof JsonValue.JsonObject object && object.members().isEmpty();
    if (path.isEmpty() || (empty && !change.adds())) {
      return target;
    }
    JsonValue value = change == Change.DELETE ? JsonWords.NULL : JsonWords.value(a[2]);
    return new JsonbChanges(path, change, value).at(target, 0);
  }

  private JsonValue at(JsonValue target, int level) {
    String step = path.get(level);
    if (step == null) {
      throw JsonWords.nullInPath(level + 1);
    }
    return switch (target) {
      case JsonValue.JsonObject object -> inObject(object, step, level);
      case JsonValue.Array array -> inArray(array, step, level);
      default -> target;
    };
  }

  private JsonValue inObject(JsonValue.JsonObject object, String key, int level) {
    Map<String, JsonValue> members = JsonbText.members(object);
    boolean last = level == path.size() - 1;
    JsonValue found = members.get(key);
    if (!last) {
      if (found != null) {
        members.put(key, at(found, level + 1));
      }
      return JsonValue.ofMembers(members);
    }
    switch (change) {
      case DELETE -> members.remove(key);
      case REPLACE -> members.replace(key, value);
      case CREATE -> members.put(key, value);
      case INSERT_BEFORE, INSERT_AFTER -> {
        if (found != null) {
          throw JsonWords.refused("cannot replace existing key")
              .withHint("Try using the function jsonb_set to replace key value.");
        }
        members.put(key, value);
      }
    }
    return JsonValue.ofMembers(members);
  }

  private JsonValue inArray(JsonValue.Array array, String step, int level) {
    Integer given = JsonAccess.index(step);
    if (given == null) {
      throw SqlErrors.invalidSyntaxMessage(
          "path element at position " + (level + 1) + " is not an integer: \"" + step + "\"");
    }
    List<JsonValue> elements = new ArrayList<>(array.elements());
    int size = elements.size();
    long index = given < 0 ? (long) size + given : given;
    boolean inside = index >= 0 && index < size;
    if (level < path.size() - 1) {
      if (inside) {
        elements.set((int) index, at(elements.get((int) index), level + 1));
      }
      return JsonValue.ofArray(elements);
    }
    if (!inside) {
      if (change.adds()) {
        elements.add(index < 0 ? 0 : size, value);
      }
      return JsonValue.ofArray(elements);
    }
    switch (change) {
      case DELETE -> elements.remove((int) index);
      case REPLACE, CREATE -> elements.set((int) index, value);
      case INSERT_BEFORE -> elements.add((int) index, value);
      case INSERT_AFTER -> elements.add((int) index + 1, value);
    }
    return JsonValue.ofArray(elements);
  }
}
