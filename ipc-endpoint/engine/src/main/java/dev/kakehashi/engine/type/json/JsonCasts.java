package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.FLOAT4;
import static dev.kakehashi.protocol.TypeOid.FLOAT8;
import static dev.kakehashi.protocol.TypeOid.INT2;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.JSON;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.CastRegistry;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.type.value.Casts;
import java.util.Objects;

/// Conversions between json and jsonb, and of jsonb to numbers and bool.
public final class JsonCasts {
  private JsonCasts() {}

  public static void register(CastRegistry casts) {
    casts.add(
        JSON,
        JSONB,
        CastContext.ASSIGNMENT,
        true,
        (a, _, c) -> Varlena.of(c.heap, JsonWords.canonical(JSONB, Varlena.string(a[0]))));
    casts.add(JSONB, JSON, CastContext.ASSIGNMENT, true, (a, _, _) -> a[0]);
    casts.add(
        JSONB,
        BOOL,
        CastContext.EXPLICIT,
        true,
        (a, _, _) -> {
          JsonValue value = JsonWords.value(a[0]);
          if (!(value instanceof JsonValue.Bool bool)) {
            throw refused(value, BOOL);
          }
          return bool.value() ? 1 : 0;
        });
    for (int oid : new int[] {NUMERIC, INT2, INT4, INT8, FLOAT4, FLOAT8}) {
      casts.add(
          JSONB,
          oid,
          CastContext.EXPLICIT,
          true,
          (a, nulls, c) -> {
            JsonValue value = JsonWords.value(a[0]);
            if (!(value instanceof JsonValue.JsonNumber number)) {
              throw refused(value, oid);
            }
            long word = NumericConversion.parse(number.source(), c.heap);
            ScalarFunction cast =
                Objects.requireNonNull(Casts.find(NUMERIC, SqlType.of(oid), CastContext.EXPLICIT));
            return cast.body().apply(new long[] {word}, nulls, c);
          });
    }
  }

  private static EngineException refused(JsonValue value, int oid) {
    String kind = value.typeName();
    String what =
        switch (value) {
          case JsonValue.Null _ -> "jsonb null";
          case JsonValue.Array _, JsonValue.JsonObject _ -> "jsonb array or object";
          default -> "jsonb " + (kind.equals("number") ? "numeric" : kind);
        };
    return JsonWords.refused("cannot cast " + what + " to type " + Types.name(oid));
  }
}
