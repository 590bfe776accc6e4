package dev.kakehashi.engine.type.registry;

import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.NAME;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.TypeClass;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.text.Quoting;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Functions about the session, about the arguments themselves, and about sizes.
final class SystemFunctions {
  private static final String[] SIZE_UNITS = {"bytes", "kB", "MB", "GB", "TB", "PB"};

  /// Where names without a schema are looked for.
  private static final String DEFAULT_SCHEMA = "public";

  private static final int BYTES_LIMIT = 10 * 1024;
  private static final int UNIT_LIMIT = 20 * 1024 - 1;

  private SystemFunctions() {}

  static void register(FunctionSet set) {
    for (String name : new String[] {"current_user", "user", "current_role"}) {
      set.addStable(name, NAME, (_, _, c) -> Varlena.of(c.heap, c.userName));
    }
    set.addStable("session_user", NAME, (_, _, c) -> Varlena.of(c.heap, c.sessionUserName));
    set.addStable("current_schema", NAME, (_, _, c) -> Varlena.of(c.heap, DEFAULT_SCHEMA));
    set.addStable(
        "current_schemas",
        TypeOid.arrayOf(NAME),
        (a, _, c) ->
            ArrayTypes.word(
                ArrayValue.of(
                    a[0] != 0 ? List.of("pg_catalog", DEFAULT_SCHEMA) : List.of(DEFAULT_SCHEMA)),
                c),
        TypeOid.BOOL);
    set.add("getdatabaseencoding", NAME, (_, _, c) -> Varlena.of(c.heap, "UTF8"));
    set.add(
        "pg_size_pretty",
        TEXT,
        (a, _, c) -> Varlena.of(c.heap, prettySize(BigDecimal.valueOf(a[0]))),
        INT8);
    set.add("pg_size_pretty", TEXT, (a, _, c) -> Varlena.of(c.heap, prettyNumeric(a[0])), NUMERIC);
  }

  static void register(PolymorphicFunctions set) {
    count(set, "num_nulls", true);
    count(set, "num_nonnulls", false);
    set.add("pg_typeof", "pg_typeof(any) → text", SystemFunctions::typeOf);
    set.add(
        "error_on_null", "error_on_null(anyelement) → anyelement", SystemFunctions::errorOnNull);
    quote(set, "quote_literal", false);
    quote(set, "quote_nullable", true);
  }

  private static void count(PolymorphicFunctions set, String name, boolean nulls) {
    set.add(
        name,
        name + "(VARIADIC any) → integer",
        oids -> {
          if (oids.length == 0 || oids.length > ScalarFunction.MAX_ARGUMENTS) {
            return null;
          }
          return new ScalarFunction(
              name,
              Types.unknownAsText(oids),
              INT4,
              false,
              true,
              (a, bits, _) -> nulls ? Long.bitCount(bits) : a.length - Long.bitCount(bits));
        });
  }

  private static @Nullable ScalarFunction typeOf(int[] oids) {
    if (oids.length != 1) {
      return null;
    }
    String name = Types.name(oids[0]);
    return new ScalarFunction(
        "pg_typeof",
        Types.unknownAsText(oids),
        TEXT,
        false,
        true,
        (_, _, c) -> Varlena.of(c.heap, name));
  }

  private static @Nullable ScalarFunction errorOnNull(int[] oids) {
    if (oids.length != 1) {
      return null;
    }
    if (oids[0] == Types.UNKNOWN) {
      throw SqlErrors.undeterminedPolymorphicType();
    }
    return new ScalarFunction(
        "error_on_null",
        oids.clone(),
        oids[0],
        false,
        true,
        (a, nulls, _) -> {
          if (nulls != 0) {
            throw new EngineException(ErrorCode.NULL_VALUE_NOT_ALLOWED, "null value not allowed");
          }
          return a[0];
        });
  }

  private static void quote(PolymorphicFunctions set, String name, boolean nullable) {
    set.add(
        name,
        name + "(anyelement) → text",
        oids -> {
          ScalarFunction text =
              oids.length != 1
                      || oids[0] == Types.UNKNOWN
                      || TypeClass.of(oids[0]) == TypeClass.STRING
                  ? null
                  : Casts.find(oids[0], SqlType.of(TEXT), CastContext.EXPLICIT);
          if (text == null) {
            return null;
          }
          return new ScalarFunction(
              name,
              oids.clone(),
              TEXT,
              !nullable,
              text.immutable(),
              (a, nulls, c) ->
                  nulls != 0
                      ? Varlena.of(c.heap, "NULL")
                      : Varlena.of(
                          c.heap, Quoting.literal(Varlena.string(text.body().apply(a, nulls, c)))));
        });
  }

  private static String prettyNumeric(long bytes) {
    return NumericForm.isSpecial(bytes)
        ? NumericConversion.toText(bytes) + " " + SIZE_UNITS[SIZE_UNITS.length - 1]
        : prettySize(NumericForm.toBigDecimal(bytes));
  }

  /// A number of bytes in the largest unit that leaves five digits, rounded.
  private static String prettySize(BigDecimal bytes) {
    BigDecimal size = bytes;
    for (int unit = 0; ; unit++) {
      BigDecimal limit = BigDecimal.valueOf(unit == 0 ? BYTES_LIMIT : UNIT_LIMIT);
      if (size.abs().compareTo(limit) < 0 || unit == SIZE_UNITS.length - 1) {
        // From kB on it is counted in halves.
        BigDecimal half = size.signum() < 0 ? BigDecimal.ONE.negate() : BigDecimal.ONE;
        BigDecimal rounded = unit == 0 ? size : quotient(size.add(half), 2);
        return rounded.toPlainString() + " " + SIZE_UNITS[unit];
      }
      size = quotient(size, 1L << (unit == 0 ? 9 : 10));
    }
  }

  private static BigDecimal quotient(BigDecimal dividend, long divisor) {
    return dividend.divide(BigDecimal.valueOf(divisor), 0, RoundingMode.DOWN);
  }
}
