package dev.kakehashi.engine.type.json;

import dev.kakehashi.engine.type.RawMemory;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// PostgreSQL's order of jsonb: null, strings, numbers, booleans, arrays, objects; arrays and objects by their size first, strings by
/// bytes.
public final class JsonbOrder {
  private JsonbOrder() {}

  /// Negative, zero or positive.
  ///
  /// @param left word of a jsonb
  public static int compare(long left, long right) {
    JsonValue a = JsonWords.value(left);
    JsonValue b = JsonWords.value(right);
    boolean scalar = JsonbOperators.isScalar(a);
    if (scalar == JsonbOperators.isScalar(b)
        || a instanceof JsonValue.JsonObject
        || b instanceof JsonValue.JsonObject) {
      return compare(a, b);
    }
    // PostgreSQL keeps a scalar as an array of one; an empty array is therefore less.
    int order = Integer.compare(size(a), size(b));
    return order != 0 ? order : scalar ? -1 : 1;
  }

  /// Equal values hash equally.
  ///
  /// @param word of a jsonb
  public static long hash(long word) {
    return hash(JsonWords.value(word));
  }

  /// The order inside arrays and objects.
  static int compare(JsonValue left, JsonValue right) {
    if (left instanceof JsonValue.Array array && right instanceof JsonValue.Array other) {
      return elements(array.elements(), other.elements());
    }
    if (left instanceof JsonValue.JsonObject object
        && right instanceof JsonValue.JsonObject other) {
      return members(object.members(), other.members());
    }
    int order = Integer.compare(rank(left), rank(right));
    if (order != 0) {
      return order;
    }
    return switch (left) {
      case JsonValue.Text text -> strings(text.value(), ((JsonValue.Text) right).value());
      case JsonValue.JsonNumber number ->
          decimal(number).compareTo(decimal((JsonValue.JsonNumber) right));
      case JsonValue.Bool bool -> Boolean.compare(bool.value(), ((JsonValue.Bool) right).value());
      default -> 0;
    };
  }

  private static int elements(List<JsonValue> left, List<JsonValue> right) {
    int order = Integer.compare(left.size(), right.size());
    for (int i = 0; i < left.size() && order == 0; i++) {
      order = compare(left.get(i), right.get(i));
    }
    return order;
  }

  private static int members(List<JsonValue.Member> left, List<JsonValue.Member> right) {
    int order = Integer.compare(left.size(), right.size());
    for (int i = 0; i < left.size() && order == 0; i++) {
      order = strings(left.get(i).key(), right.get(i).key());
      if (order == 0) {
        order = compare(left.get(i).value(), right.get(i).value());
      }
    }
    return order;
  }

  private static int rank(JsonValue value) {
    return switch (value) {
      case JsonValue.Null _ -> 0;
      case JsonValue.Text _ -> 1;
      case JsonValue.JsonNumber _ -> 2;
      case JsonValue.Bool _ -> 3;
      case JsonValue.Array _ -> 4;
      case JsonValue.JsonObject _ -> 5;
    };
  }

  private static int size(JsonValue value) {
    return value instanceof JsonValue.Array array ? array.elements().size() : 1;
  }

  private static int strings(String left, String right) {
    return Arrays.compareUnsigned(
        left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));
  }

  private static BigDecimal decimal(JsonValue.JsonNumber number) {
    return new BigDecimal(number.source());
  }

  private static long hash(JsonValue value) {
    return switch (value) {
      case JsonValue.Null _ -> 1;
      case JsonValue.Bool bool -> bool.value() ? 2 : 3;
      case JsonValue.Text text -> RawMemory.mix(text.value().hashCode());
      case JsonValue.JsonNumber number ->
          RawMemory.mix(~(long) decimal(number).stripTrailingZeros().hashCode());
      case JsonValue.Array array -> {
        long hash = 4;
        for (JsonValue element : array.elements()) {
          hash = RawMemory.mix(hash) + hash(element);
        }
        yield hash;
      }
      case JsonValue.JsonObject object -> {
        long hash = 5;
        for (JsonValue.Member member : object.members()) {
          hash =
              RawMemory.mix(RawMemory.mix(hash) + member.key().hashCode()) + hash(member.value());
        }
        yield hash;
      }
    };
  }
}
