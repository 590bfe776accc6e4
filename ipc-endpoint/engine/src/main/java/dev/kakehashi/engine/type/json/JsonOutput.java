package dev.kakehashi.engine.type.json;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.TypeOid;
import org.jspecify.annotations.Nullable;

/// Values of any type as JSON: numbers and booleans as they are, times in ISO 8601, arrays as arrays, the rest as strings.
public final class JsonOutput {
  private JsonOutput() {}

  /// Appends a value.
  ///
  /// @param pretty with a line for each element of an array's first dimension
  public static void append(
      StringBuilder json, int oid, long word, boolean pretty, FunctionContext context) {
    int element = TypeOid.element(oid);
    if (element == TypeOid.UNSPECIFIED) {
      append(json, oid, Values.toText(oid, word, context.zone));
    } else {
      ArrayValue array = ArrayTypes.array(word);
      if (array.isEmpty()) {
        json.append("[]");
      } else {
        append(json, element, array, 0, 0, pretty);
      }
    }
  }

  private static void append(
      StringBuilder json, int element, ArrayValue array, int dimension, int base, boolean pretty) {
    json.append('[');
    int length = array.lengths().get(dimension);
    for (int i = 0; i < length; i++) {
      if (i > 0) {
        json.append(pretty && dimension == 0 ? ",\n " : ",");
      }
      Interrupts.check();
      int at = base * length + i;
      if (dimension < array.dimensions() - 1) {
        append(json, element, array, dimension + 1, at, pretty);
      } else {
        append(json, element, array.elements().get(at));
      }
    }
    json.append(']');
  }

  /// Appends a value that is no array.
  ///
  /// @param text as its type writes it, or null
  public static void append(StringBuilder json, int oid, @Nullable String text) {
    if (text == null) {
      json.append("null");
      return;
    }
    switch (oid) {
      case TypeOid.BOOL -> json.append(text.equals("t") ? "true" : "false");
      case TypeOid.INT2, TypeOid.INT4, TypeOid.INT8, TypeOid.JSON, TypeOid.JSONB ->
          json.append(text);
      case TypeOid.FLOAT4, TypeOid.FLOAT8, TypeOid.NUMERIC -> {
        char last = text.charAt(text.length() - 1);
        json.append(last >= '0' && last <= '9' ? text : JsonbText.quoted(text));
      }
      case TypeOid.DATE, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ ->
          json.append(JsonbText.quoted(iso(oid, text)));
      default -> json.append(JsonbText.quoted(text));
    }
  }

  /// A time with `T` between date and time, and minutes in the offset.
  private static String iso(int oid, String text) {
    boolean time = oid == TypeOid.TIMESTAMP || oid == TypeOid.TIMESTAMPTZ;
    if (!time || text.indexOf(' ') < 0) {
      return text;
    }
    String iso = text.replaceFirst(" ", "T");
    if (oid == TypeOid.TIMESTAMP) {
      return iso;
    }
    int sign = Math.max(iso.lastIndexOf('+'), iso.lastIndexOf('-'));
    int end = iso.indexOf(' ', sign) < 0 ? iso.length() : iso.indexOf(' ', sign);
    return end - sign == 3 ? iso.substring(0, end) + ":00" + iso.substring(end) : iso;
  }

  /// Appends the key of a member.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_PARAMETER_VALUE for a value that is no scalar
  public static void appendKey(StringBuilder json, int oid, long word, FunctionContext context) {
    if (ArrayTypes.isArray(oid)) {
      throw JsonWords.refused("key value must be scalar, not array, composite, or json");
    }
    appendKey(json, oid, Values.toText(oid, word, context.zone));
  }

  /// The same with the text that the value's type writes.
  static void appendKey(StringBuilder json, int oid, String text) {
    if (oid == TypeOid.JSON || oid == TypeOid.JSONB) {
      throw JsonWords.refused("key value must be scalar, not array, composite, or json");
    }
    String key = oid == TypeOid.BOOL ? (text.equals("t") ? "true" : "false") : iso(oid, text);
    json.append(JsonbText.quoted(key));
  }
}
