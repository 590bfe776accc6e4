package dev.kakehashi.engine.type.value;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.BPCHAR;
import static dev.kakehashi.protocol.TypeOid.DATE;
import static dev.kakehashi.protocol.TypeOid.FLOAT4;
import static dev.kakehashi.protocol.TypeOid.FLOAT8;
import static dev.kakehashi.protocol.TypeOid.INT2;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.INTERVAL;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;
import static dev.kakehashi.protocol.TypeOid.TEXT;
import static dev.kakehashi.protocol.TypeOid.TIME;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMP;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMPTZ;
import static dev.kakehashi.protocol.TypeOid.VARCHAR;

import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.SearchOrder;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.TypeClass;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayCasts;
import dev.kakehashi.engine.type.json.JsonCasts;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.number.IntegerMath;
import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.text.CharacterTypes;
import dev.kakehashi.engine.type.time.DateTimeCasts;
import dev.kakehashi.engine.type.time.IntervalPrecision;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.DateTimeInput;
import dev.kakehashi.valuetext.time.IntervalFields;
import dev.kakehashi.valuetext.time.TimePrecision;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Conversions between types, as pg_cast, type input and output, and length coercion do them. Thread-safe.
public final class Casts {
  /// A conversion without type modifier.
  private record Cast(CastContext context, boolean immutable, Body body) {}

  private static final Body IDENTITY = (a, _, _) -> a[0];
  private static final Map<Long, Cast> CASTS = new HashMap<>();

  static {
    integers();
    numbers();
    strings();
    DateTimeCasts.register(Casts::add);
    JsonCasts.register(Casts::add);
  }

  private Casts() {}

  private static long key(int from, int to) {
    return (long) from << 32 | to;
  }

  private static void add(int from, int to, CastContext context, boolean immutable, Body body) {
    CASTS.put(key(from, to), new Cast(context, immutable, body));
  }

  private static void implicit(int from, int to, Body body) {
    add(from, to, CastContext.IMPLICIT, true, body);
  }

  private static void assignment(int from, int to, Body body) {
    add(from, to, CastContext.ASSIGNMENT, true, body);
  }

  private static void integers() {
    implicit(INT2, INT4, IDENTITY);
    implicit(INT2, INT8, IDENTITY);
    implicit(INT4, INT8, IDENTITY);
    assignment(INT4, INT2, (a, _, _) -> IntegerMath.int2(a[0]));
    assignment(INT8, INT2, (a, _, _) -> IntegerMath.int2(a[0]));
    assignment(INT8, INT4, (a, _, _) -> IntegerMath.int4(a[0]));
    for (int from : new int[] {INT2, INT4, INT8}) {
      implicit(from, NUMERIC, (a, _, c) -> NumericFast.encode(c.heap, a[0], 0));
      implicit(from, FLOAT4, (a, _, _) -> FloatMath.word((float) a[0]));
      implicit(from, FLOAT8, (a, _, _) -> FloatMath.word((double) a[0]));
    }
    add(INT4, BOOL, CastContext.EXPLICIT, true, (a, _, _) -> a[0] != 0 ? 1 : 0);
    add(BOOL, INT4, CastContext.EXPLICIT, true, IDENTITY);
  }

  private static void numbers() {
    assignment(NUMERIC, INT2, (a, _, _) -> NumericConversion.toInt2(a[0]));
    assignment(NUMERIC, INT4, (a, _, _) -> NumericConversion.toInt4(a[0]));
    assignment(NUMERIC, INT8, (a, _, _) -> NumericConversion.toInt8(a[0], "bigint"));
    implicit(NUMERIC, FLOAT4, (a, _, _) -> FloatMath.word(NumericConversion.toFloat4(a[0])));
    implicit(NUMERIC, FLOAT8, (a, _, _) -> FloatMath.word(NumericConversion.toFloat8(a[0])));
    assignment(FLOAT4, INT2, (a, _, _) -> FloatMath.toInt2(FloatMath.ofWord4(a[0])));
    assignment(FLOAT4, INT4, (a, _, _) -> FloatMath.toInt4(FloatMath.ofWord4(a[0])));
    assignment(FLOAT4, INT8, (a, _, _) -> FloatMath.toInt8(FloatMath.ofWord4(a[0])));
    assignment(
        FLOAT4, NUMERIC, (a, _, c) -> NumericConversion.ofFloat4(FloatMath.ofWord4(a[0]), c.heap));
    implicit(FLOAT4, FLOAT8, (a, _, _) -> FloatMath.word((double) FloatMath.ofWord4(a[0])));
    assignment(FLOAT8, INT2, (a, _, _) -> FloatMath.toInt2(FloatMath.ofWord8(a[0])));
    assignment(FLOAT8, INT4, (a, _, _) -> FloatMath.toInt4(FloatMath.ofWord8(a[0])));
    assignment(FLOAT8, INT8, (a, _, _) -> FloatMath.toInt8(FloatMath.ofWord8(a[0])));
    assignment(
        FLOAT8, FLOAT4, (a, _, _) -> FloatMath.word(FloatMath.toFloat4(FloatMath.ofWord8(a[0]))));
    assignment(
        FLOAT8, NUMERIC, (a, _, c) -> NumericConversion.ofFloat8(FloatMath.ofWord8(a[0]), c.heap));
  }

  private static void strings() {
    implicit(TEXT, VARCHAR, IDENTITY);
    implicit(VARCHAR, TEXT, IDENTITY);
    implicit(TEXT, BPCHAR, IDENTITY);
    implicit(VARCHAR, BPCHAR, IDENTITY);
    Body strip = (a, _, c) -> CharacterTypes.withoutTrailingBlanks(a[0], c.heap);
    implicit(BPCHAR, TEXT, strip);
    implicit(BPCHAR, VARCHAR, strip);
    Body boolText = (a, _, c) -> Varlena.of(c.heap, a[0] != 0 ? "true" : "false");
    assignment(BOOL, TEXT, boolText);
    assignment(BOOL, VARCHAR, boolText);
    assignment(BOOL, BPCHAR, boolText);
    for (int from : Types.all()) {
      if (TypeClass.of(from) == TypeClass.STRING) {
        continue;
      }
      for (int string : new int[] {TEXT, VARCHAR, BPCHAR}) {
        // Date and time output depends on DateStyle in PostgreSQL, not here.
        CASTS.putIfAbsent(
            key(from, string),
            new Cast(
                CastContext.ASSIGNMENT,
                from != TIMESTAMPTZ,
                (a, _, c) -> Varlena.of(c.heap, Values.toText(from, a[0], c.zone))));
        CASTS.putIfAbsent(
            key(string, from), new Cast(CastContext.EXPLICIT, !dependsOnNow(from), input(from)));
      }
      add(Types.UNKNOWN, from, CastContext.IMPLICIT, !dependsOnNow(from), input(from));
    }
    for (int oid : TypeOid.textForms()) {
      for (int string : new int[] {TEXT, VARCHAR}) {
        assignment(oid, string, IDENTITY);
        CASTS.put(key(string, oid), new Cast(CastContext.EXPLICIT, !dependsOnNow(oid), input(oid)));
      }
      add(Types.UNKNOWN, oid, CastContext.IMPLICIT, !dependsOnNow(oid), input(oid));
    }
    for (int record : new int[] {Types.RECORD, Types.RECORD_ARRAY}) {
      for (int string : new int[] {TEXT, VARCHAR}) {
        assignment(record, string, (a, _, c) -> Varlena.of(c.heap, SearchOrder.text(a[0])));
      }
    }
    implicit(Types.UNKNOWN, TEXT, IDENTITY);
    implicit(Types.UNKNOWN, VARCHAR, IDENTITY);
    implicit(Types.UNKNOWN, BPCHAR, IDENTITY);
  }

  /// Whether texts of a type may be words such as "now".
  private static boolean dependsOnNow(int oid) {
    return switch (oid) {
      case DATE, TIME, TypeOid.TIMETZ, TIMESTAMP, TIMESTAMPTZ -> true;
      default -> false;
    };
  }

  private static Body input(int oid) {
    return (a, _, c) ->
        Values.parse(oid, Varlena.string(a[0]), c.heap, c.zone, () -> c.transactionTimestamp);
  }

  /// Whether a value may be used as another type without being asked for it.
  public static boolean isImplicit(int fromOid, int toOid) {
    if (fromOid == toOid) {
      return true;
    }
    int element = TypeOid.element(toOid);
    if (element != TypeOid.UNSPECIFIED && fromOid != Types.UNKNOWN) {
      int from = TypeOid.element(fromOid);
      return from != TypeOid.UNSPECIFIED && isImplicit(from, element);
    }
    Cast cast = CASTS.get(key(fromOid, toOid));
    return cast != null && cast.context == CastContext.IMPLICIT;
  }

  /// Whether PostgreSQL takes a value of one string type for one of the other as it stands.
  public static boolean isBinaryCoercible(int fromOid, int toOid) {
    if (fromOid == toOid) {
      return true;
    }
    Cast cast = CASTS.get(key(fromOid, toOid));
    return cast != null
        && TypeClass.of(toOid) == TypeClass.STRING
        && (TypeClass.of(fromOid) == TypeClass.STRING || fromOid == Types.UNKNOWN)
        && fromOid != BPCHAR;
  }

  /// The conversion to a type with its modifier; null when there is none in this context.
  ///
  /// The result takes one argument and is strict; its result may be the argument's word.
  public static @Nullable ScalarFunction find(int fromOid, SqlType to, CastContext context) {
    if (TypeOid.element(to.oid()) != TypeOid.UNSPECIFIED) {
      return ArrayCasts.find(fromOid, to, context);
    }
    Body body = IDENTITY;
    boolean immutable = true;
    if (fromOid != to.oid()) {
      Cast cast = CASTS.get(key(fromOid, to.oid()));
      if (cast == null || cast.context.compareTo(context) > 0) {
        return null;
      }
      body = cast.body;
      immutable = cast.immutable;
    }
    if (fromOid == Types.UNKNOWN && to.oid() == INTERVAL) {
      // The only input that looks at the modifier itself.
      IntervalFields fields = IntervalFields.of(to.typeModifier());
      body = (a, _, c) -> Intervals.parse(Varlena.string(a[0]), fields, c.heap);
    }
    if (to.typeModifier() >= 0) {
      body = withModifier(body, to, context == CastContext.EXPLICIT);
    }
    return new ScalarFunction(
        Types.name(to.oid()), new int[] {fromOid}, to.oid(), true, immutable, body);
  }

  private static Body withModifier(Body body, SqlType to, boolean explicit) {
    int modifier = to.typeModifier();
    return switch (to.oid()) {
      case VARCHAR ->
          (a, n, c) -> CharacterTypes.varchar(body.apply(a, n, c), modifier - 4, explicit, c.heap);
      case BPCHAR ->
          (a, n, c) -> CharacterTypes.bpchar(body.apply(a, n, c), modifier - 4, explicit, c.heap);
      case NUMERIC -> (a, n, c) -> NumericConversion.coerce(body.apply(a, n, c), modifier, c.heap);
      case TIME -> (a, n, c) -> TimePrecision.time(body.apply(a, n, c), modifier);
      case TypeOid.TIMETZ ->
          (a, n, c) ->
              Varlena.of(
                  c.heap,
                  DateTimeInput.timeWithZone(
                      Varlena.string(body.apply(a, n, c)),
                      modifier,
                      c.zone,
                      () -> c.transactionTimestamp));
      case TIMESTAMP, TIMESTAMPTZ ->
          (a, n, c) -> TimePrecision.timestamp(body.apply(a, n, c), modifier);
      case INTERVAL -> {
        IntervalFields fields = IntervalFields.of(modifier);
        int precision = IntervalFields.precision(modifier);
        yield (a, n, c) -> IntervalPrecision.cut(body.apply(a, n, c), fields, precision, c.heap);
      }
      default -> body;
    };
  }
}
