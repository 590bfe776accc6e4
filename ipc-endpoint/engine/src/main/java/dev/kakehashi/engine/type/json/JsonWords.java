package dev.kakehashi.engine.type.json;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Words of json and jsonb, and the other values that their functions take.
public final class JsonWords {
  static final JsonValue NULL = new JsonValue.Null("null");
  static final int TEXT_ARRAY = TypeOid.arrayOf(TypeOid.TEXT);

  private JsonWords() {}

  /// The text that a value of the type has in memory.
  ///
  /// @param oid json or jsonb
  /// @throws EngineException 22P02 or 22P05 for text that is not of the type
  public static String canonical(int oid, String text) {
    if (oid == TypeOid.JSONB) {
      return JsonbText.of(JsonParser.parse(text));
    }
    JsonParser.asWritten(text);
    return text;
  }

  static JsonValue value(long word) {
    return JsonParser.parse(Varlena.string(word));
  }

  /// A value as jsonb.
  static long jsonb(JsonValue value, FunctionContext context) {
    return Varlena.of(context.heap, JsonbText.of(value));
  }

  /// A text that is known to be JSON as a value of the type.
  ///
  /// @param oid json or jsonb
  static long made(int oid, String json, FunctionContext context) {
    return Varlena.of(context.heap, oid == TypeOid.JSONB ? canonical(oid, json) : json);
  }

  static long text(@Nullable String text, FunctionContext context) {
    return text == null ? context.nullResult() : Varlena.of(context.heap, text);
  }

  static EngineException refused(String message) {
    return SqlErrors.invalidParameter(message);
  }

  /// The elements of a path.
  static List<@Nullable String> path(long array) {
    return ArrayTypes.array(array).elements();
  }

  static EngineException nullInPath(int position) {
    return new EngineException(
        ErrorCode.NULL_VALUE_NOT_ALLOWED, "path element at position " + position + " is null");
  }

  /// Name of a value's kind in messages.
  static String kind(JsonValue value) {
    return switch (value) {
      case JsonValue.Array _ -> "array";
      case JsonValue.JsonObject _ -> "object";
      default -> "scalar";
    };
  }
}
