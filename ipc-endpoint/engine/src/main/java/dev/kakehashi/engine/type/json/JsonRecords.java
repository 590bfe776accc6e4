package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.JSON;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.RowFunction.Column;
import dev.kakehashi.engine.type.RowFunction.Rows;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `json_to_record()`, `json_to_recordset()` and their jsonb forms: the objects that become rows, and the members that become columns.
/// Thread-safe.
public final class JsonRecords {
  private JsonRecords() {}

  /// The objects of a call, a row each; null for other names.
  public static @Nullable RowFunction objects(String name) {
    int oid = name.startsWith("jsonb") ? JSONB : JSON;
    List<Column> column = List.of(new Column("value", oid));
    return switch (name) {
      case "json_to_record", "jsonb_to_record" ->
          new RowFunction(name, new int[] {oid}, column, false, (a, _) -> one(name, a[0]));
      case "json_to_recordset", "jsonb_to_recordset" ->
          new RowFunction(name, new int[] {oid}, column, true, (a, _) -> all(name, a[0]));
      default -> null;
    };
  }

  private static Rows one(String name, long word) {
    if (word != 0) {
      JsonValue value = JsonWords.value(word);
      if (!(value instanceof JsonValue.JsonObject)) {
        throw cannotCall(name, value);
      }
    }
    return Rows.of(
        Collections.nCopies(1, word),
        (each, values, context) -> {
          values[0] = each;
          context.resultIsNull = each == 0;
        });
  }

  private static Rows all(String name, long word) {
    JsonValue value = JsonWords.value(word);
    if (!(value instanceof JsonValue.Array array)) {
      throw cannotCall(name, value);
    }
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonValue.JsonObject)) {
        throw JsonWords.refused("argument of " + name + " must be an array of objects");
      }
    }
    return Rows.of(
        array.elements(),
        (element, values, context) -> values[0] = JsonWords.text(element.source(), context));
  }

  private static EngineException cannotCall(String name, JsonValue value) {
    String kind = JsonWords.kind(value);
    return JsonWords.refused(
        "cannot call " + name + " on " + (kind.equals("scalar") ? "a " : "an ") + kind);
  }

  /// The member of an object as the text that the column's type reads; null where it is missing or `null`.
  ///
  /// @param oid json or jsonb, the object's type
  /// @param array whether the column is an array, which is made of a JSON array or read from a string
  /// @param document whether the column is json or jsonb, and keeps the member as it is
  public static ScalarFunction member(int oid, boolean array, boolean document) {
    return new ScalarFunction(
        "kh member" + (array ? " array" : document ? " document" : ""),
        new int[] {oid, TEXT},
        TEXT,
        false,
        true,
        (a, nulls, c) -> {
          if (nulls != 0) {
            return c.nullResult();
          }
          String key = Varlena.string(a[1]);
          JsonValue value = JsonAccess.member(JsonWords.value(a[0]), key);
          if (value == null || value instanceof JsonValue.Null) {
            return c.nullResult();
          }
          return array
              ? array(value, key, c)
              : JsonWords.text(document ? value.source() : JsonAccess.shown(value), c);
        });
  }

  private static long array(JsonValue value, String key, FunctionContext context) {
    return switch (value) {
      case JsonValue.Text text -> JsonWords.text(text.value(), context);
      case JsonValue.Array array -> ArrayTypes.word(new Elements(key).of(array), context);
      default ->
          throw new EngineException(ErrorCode.INVALID_TEXT_REPRESENTATION, "expected JSON array")
              .withHint("See the value of key \"" + key + "\".");
    };
  }

  /// Elements of arrays in arrays, all of one length at each depth.
  private static final class Elements {
    private final String key;
    private final List<@Nullable String> elements = new ArrayList<>();
    private final List<Integer> lengths = new ArrayList<>();

    Elements(String key) {
      this.key = key;
    }

    ArrayValue of(JsonValue.Array array) {
      JsonValue first = array;
      while (first instanceof JsonValue.Array inner) {
        lengths.add(inner.elements().size());
        first = inner.elements().isEmpty() ? JsonWords.NULL : inner.elements().getFirst();
      }
      if (lengths.size() > ArrayValue.MAX_DIMENSIONS) {
        throw ArrayValue.tooManyDimensions(lengths.size());
      }
      add(array, 0);
      return elements.isEmpty()
          ? ArrayValue.EMPTY
          : new ArrayValue(List.copyOf(lengths), Collections.nCopies(lengths.size(), 1), elements);
    }

    private void add(JsonValue value, int depth) {
      Interrupts.check();
      int length = value instanceof JsonValue.Array array ? array.elements().size() : -1;
      if (length != (depth < lengths.size() ? lengths.get(depth) : -1)) {
        throw new EngineException(ErrorCode.INVALID_TEXT_REPRESENTATION, "malformed JSON array")
            .withDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
            .withHint("See the value of key \"" + key + "\".");
      }
      if (!(value instanceof JsonValue.Array array)) {
        elements.add(JsonAccess.shown(value));
        return;
      }
      for (JsonValue each : array.elements()) {
        add(each, depth + 1);
      }
    }
  }
}
