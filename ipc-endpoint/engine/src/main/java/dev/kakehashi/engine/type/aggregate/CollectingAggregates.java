package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.json.JsonOutput;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Aggregates of arguments of any types that make arrays, json and jsonb.
public final class CollectingAggregates {
  /// `json_agg` of rows, which are json by then: PostgreSQL begins a line with each.
  public static final String JSON_AGG_OF_ROWS = "json_agg of rows";

  /// The result's type of those of JSON.
  private static final Map<String, Integer> JSON =
      Map.of(
          "json_agg",
          TypeOid.JSON,
          JSON_AGG_OF_ROWS,
          TypeOid.JSON,
          "jsonb_agg",
          TypeOid.JSONB,
          "json_object_agg",
          TypeOid.JSON,
          "jsonb_object_agg",
          TypeOid.JSONB);

  /// A string and its place in a list for each element; its characters, those of the array's text while that grows and once it is there,
  /// and the bytes.
  private static final CollectedValues.Cost OF_ARRAY = new CollectedValues.Cost(56, 6);

  /// The text while it grows and once it is there, and the bytes.
  private static final CollectedValues.Cost OF_JSON = new CollectedValues.Cost(8, 5);

  /// The values as objects besides, and their text.
  private static final CollectedValues.Cost OF_JSONB = new CollectedValues.Cost(80, 9);

  /// Values between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 9) - 1;

  private CollectingAggregates() {}

  public static boolean contains(String name) {
    return name.equals("array_agg") || JSON.containsKey(name);
  }

  /// The aggregate for arguments of these types, or null if it has other arguments.
  ///
  /// @throws EngineException DATATYPE_MISMATCH for a literal without type
  public static @Nullable AggregateFunction resolve(String name, int[] oids) {
    boolean object = name.contains("object");
    if (oids.length != (object ? 2 : 1)) {
      return null;
    }
    int[] declared = oids.clone();
    for (int i = 0; i < declared.length; i++) {
      if (declared[i] == Types.UNKNOWN) {
        if (name.equals("array_agg")) {
          throw new EngineException(
              ErrorCode.AMBIGUOUS_FUNCTION, "function array_agg(unknown) is not unique");
        }
        if (!object) {
          throw SqlErrors.undeterminedPolymorphicType();
        }
        declared[i] = TypeOid.TEXT;
      }
    }
    if (name.equals("array_agg")) {
      return array(name, declared);
    }
    int result = Objects.requireNonNull(JSON.get(name), name);
    boolean lines = name.equals(JSON_AGG_OF_ROWS) || ArrayTypes.isArray(declared[0]);
    CollectedValues.Finish finish =
        (values, context) -> {
          String json =
              object
                  ? object(values, declared, context)
                  : list(values, declared[0], lines, context);
          return Values.parse(result, json, context.heap);
        };
    CollectedValues.Cost cost = result == TypeOid.JSONB ? OF_JSONB : OF_JSON;
    return new AggregateFunction(
        name, declared, result, () -> new CollectedValues(declared, cost, finish));
  }

  private static @Nullable AggregateFunction array(String name, int[] oids) {
    boolean nested = ArrayTypes.isArray(oids[0]);
    int result = nested ? oids[0] : TypeOid.arrayOf(oids[0]);
    CollectedValues.Finish finish =
        nested ? CollectingAggregates::nested : (values, context) -> flat(values, oids[0], context);
    return result == TypeOid.UNSPECIFIED
        ? null
        : new AggregateFunction(
            name, oids, result, () -> new CollectedValues(oids, OF_ARRAY, finish));
  }

  private static void checkNowAndThen(int value) {
    if ((value & CHECK_MASK) == 0) {
      Interrupts.check();
    }
  }

  private static long flat(CollectedValues.State values, int oid, FunctionContext context) {
    List<@Nullable String> elements = new ArrayList<>(values.size);
    for (int i = 0; i < values.size; i++) {
      checkNowAndThen(i);
      elements.add(values.nulls.get(i) ? null : Values.toText(oid, values.words[i], context.zone));
    }
    return ArrayTypes.word(ArrayValue.of(elements), context);
  }

  private static long nested(CollectedValues.State values, FunctionContext context) {
    List<ArrayValue> arrays = new ArrayList<>(values.size);
    for (int i = 0; i < values.size; i++) {
      checkNowAndThen(i);
      if (values.nulls.get(i)) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays");
      }
      ArrayValue array = ArrayTypes.array(values.words[i]);
      if (array.isEmpty()) {
        throw SqlErrors.arraySubscript("cannot accumulate empty arrays");
      }
      if (!arrays.isEmpty() && !arrays.getFirst().lengths().equals(array.lengths())) {
        throw SqlErrors.arraySubscript("cannot accumulate arrays of different dimensionality");
      }
      arrays.add(array);
    }
    return ArrayTypes.word(ArrayValue.nested(arrays), context);
  }

  private static void append(
      StringBuilder json, CollectedValues.State values, int at, int oid, FunctionContext context) {
    if (values.nulls.get(at)) {
      json.append("null");
    } else {
      JsonOutput.append(json, oid, values.words[at], false, context);
    }
    if (json.length() > Varlena.MAX_BYTES) {
      throw SqlErrors.lengthTooLarge();
    }
  }

  /// @param lines whether each value begins a line
  private static String list(
      CollectedValues.State values, int oid, boolean lines, FunctionContext context) {
    StringBuilder json = new StringBuilder("[");
    for (int i = 0; i < values.size; i++) {
      checkNowAndThen(i);
      json.append(i == 0 ? "" : lines && !values.nulls.get(i) ? ", \n " : ", ");
      append(json, values, i, oid, context);
    }
    return json.append(']').toString();
  }

  private static String object(CollectedValues.State values, int[] oids, FunctionContext context) {
    StringBuilder json = new StringBuilder("{ ");
    for (int i = 0; i < values.size; i += 2) {
      checkNowAndThen(i);
      if (values.nulls.get(i)) {
        throw SqlErrors.invalidParameter("field name must not be null");
      }
      json.append(i == 0 ? "" : ", ");
      JsonOutput.appendKey(json, oids[0], values.words[i], context);
      json.append(" : ");
      append(json, values, i + 1, oids[1], context);
    }
    return json.append(" }").toString();
  }
}
