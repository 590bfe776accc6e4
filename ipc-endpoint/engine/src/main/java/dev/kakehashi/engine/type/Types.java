package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.IntervalFields;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/// Facts about types: names, kinds in the store, modifiers.
public final class Types {
  /// A parser asks for words that are no types, too: for very many.
  private static final Pattern SPACES = Pattern.compile("\\s+");

  /// pg_type.oid of `unknown`, the type of a string literal; its word is that of text.
  public static final int UNKNOWN = 705;

  /// pg_type.oid of `record`, and of an array of them: within a query only, see [SearchOrder].
  public static final int RECORD = 2249;

  public static final int RECORD_ARRAY = 2287;

  private static final int[] ALL = {
    TypeOid.BOOL, TypeOid.BYTEA, TypeOid.INT8, TypeOid.INT2, TypeOid.INT4, TypeOid.TEXT,
    TypeOid.FLOAT4, TypeOid.FLOAT8, TypeOid.BPCHAR, TypeOid.VARCHAR, TypeOid.DATE, TypeOid.TIME,
    TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ, TypeOid.INTERVAL, TypeOid.NUMERIC, TypeOid.UUID
  };

  private static final int MAX_NUMERIC_PRECISION = 1000;
  private static final int MAX_CHARACTERS = 10 * 1024 * 1024;
  private static final int MAX_TIME_PRECISION = 6;
  private static final Map<String, Integer> OIDS = new HashMap<>();

  static {
    for (int oid : ALL) {
      OIDS.put(name(oid), oid);
    }
    OIDS.put("bool", TypeOid.BOOL);
    OIDS.put("int2", TypeOid.INT2);
    OIDS.put("int4", TypeOid.INT4);
    OIDS.put("int", TypeOid.INT4);
    OIDS.put("int8", TypeOid.INT8);
    OIDS.put("float4", TypeOid.FLOAT4);
    OIDS.put("float8", TypeOid.FLOAT8);
    OIDS.put("float", TypeOid.FLOAT8);
    OIDS.put("decimal", TypeOid.NUMERIC);
    OIDS.put("dec", TypeOid.NUMERIC);
    OIDS.put("varchar", TypeOid.VARCHAR);
    OIDS.put("bpchar", TypeOid.BPCHAR);
    OIDS.put("char", TypeOid.BPCHAR);
    OIDS.put("time", TypeOid.TIME);
    OIDS.put("timestamp", TypeOid.TIMESTAMP);
    OIDS.put("timestamptz", TypeOid.TIMESTAMPTZ);
    OIDS.put("unknown", UNKNOWN);
    OIDS.put("name", TypeOid.NAME);
    OIDS.put("json", TypeOid.JSON);
    OIDS.put("jsonb", TypeOid.JSONB);
    OIDS.put("timetz", TypeOid.TIMETZ);
    OIDS.put("time with time zone", TypeOid.TIMETZ);
  }

  private Types() {}

  /// The types that can be stored and have operators, in no particular order; see [TypeOid#isTextForm(int)] for the others.
  public static int[] all() {
    return ALL.clone();
  }

  /// Whether values of the type can be stored.
  public static boolean isKnown(int oid) {
    for (int known : ALL) {
      if (known == oid) {
        return true;
      }
    }
    return TypeOid.isTextForm(oid);
  }

  /// Whether PostgreSQL can say that two values of the type are equal.
  public static boolean hasEquality(int oid) {
    return switch (oid) {
      case TypeOid.JSON -> false;
      default -> TypeOid.element(oid) == TypeOid.UNSPECIFIED || hasEquality(TypeOid.element(oid));
    };
  }

  /// Whether the engine orders values of the type.
  public static boolean hasOrder(int oid) {
    return switch (oid) {
      case TypeOid.NAME, TypeOid.JSONB -> true;
      case TypeOid.CHAR, TypeOid.JSON, TypeOid.TIMETZ -> false;
      default -> TypeOid.element(oid) == TypeOid.UNSPECIFIED || hasOrder(TypeOid.element(oid));
    };
  }

  /// @throws EngineException UNDEFINED_FUNCTION for a type whose values cannot be told to be equal
  public static void requireEquality(int oid) {
    if (!hasEquality(oid)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_FUNCTION,
          "could not identify an equality operator for type " + name(oid));
    }
  }

  /// @throws EngineException UNDEFINED_FUNCTION for a type whose values the engine does not order
  public static void requireOrder(int oid) {
    if (!hasOrder(oid)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_FUNCTION,
          "could not identify an ordering operator for type " + name(oid));
    }
  }

  /// SQL name without modifier as format_type() gives it, for example "character varying".
  ///
  /// @throws EngineException UNDEFINED_OBJECT for a type that the engine does not have
  public static String name(int oid) {
    return switch (oid) {
      case TypeOid.BOOL -> "boolean";
      case TypeOid.BYTEA -> "bytea";
      case TypeOid.INT8 -> "bigint";
      case TypeOid.INT2 -> "smallint";
      case TypeOid.INT4 -> "integer";
      case TypeOid.TEXT -> "text";
      case TypeOid.FLOAT4 -> "real";
      case TypeOid.FLOAT8 -> "double precision";
      case TypeOid.BPCHAR -> "character";
      case TypeOid.VARCHAR -> "character varying";
      case TypeOid.DATE -> "date";
      case TypeOid.TIME -> "time without time zone";
      case TypeOid.TIMESTAMP -> "timestamp without time zone";
      case TypeOid.TIMESTAMPTZ -> "timestamp with time zone";
      case TypeOid.INTERVAL -> "interval";
      case TypeOid.NUMERIC -> "numeric";
      case TypeOid.UUID -> "uuid";
      case UNKNOWN -> "unknown";
      case RECORD -> "record";
      case RECORD_ARRAY -> "record[]";
      case TypeOid.CHAR -> "\"char\"";
      case TypeOid.NAME -> "name";
      case TypeOid.JSON -> "json";
      case TypeOid.JSONB -> "jsonb";
      case TypeOid.TIMETZ -> "time with time zone";
      default -> {
        if (TypeOid.element(oid) != TypeOid.UNSPECIFIED) {
          yield name(TypeOid.element(oid)) + "[]";
        }
        throw new EngineException(
            ErrorCode.UNDEFINED_OBJECT, "type with OID " + oid + " does not exist");
      }
    };
  }

  /// The types with text in place of [#UNKNOWN], as literals without type are taken where any type is.
  public static int[] unknownAsText(int[] oids) {
    return Arrays.stream(oids).map(oid -> oid == UNKNOWN ? TypeOid.TEXT : oid).toArray();
  }

  /// OID of a type by SQL name or alias without modifier, upper or lower case; 0 when there is none.
  public static int oid(String name) {
    String key = SPACES.matcher(name.strip().toLowerCase(Locale.ROOT)).replaceAll(" ");
    return OIDS.getOrDefault(key, 0);
  }

  /// How the type is kept and ordered.
  public static ColumnKind kind(int oid) {
    return switch (oid) {
      case TypeOid.BOOL,
          TypeOid.INT2,
          TypeOid.INT4,
          TypeOid.INT8,
          TypeOid.DATE,
          TypeOid.TIME,
          TypeOid.TIMESTAMP,
          TypeOid.TIMESTAMPTZ ->
          ColumnKind.INTEGER;
      case TypeOid.FLOAT4 -> ColumnKind.FLOAT4;
      case TypeOid.FLOAT8 -> ColumnKind.FLOAT8;
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BYTEA, UNKNOWN, RECORD, RECORD_ARRAY ->
          ColumnKind.VARLENA;
      case TypeOid.BPCHAR -> ColumnKind.BPCHAR;
      case TypeOid.NUMERIC -> ColumnKind.NUMERIC;
      case TypeOid.UUID -> ColumnKind.UUID;
      case TypeOid.INTERVAL -> ColumnKind.INTERVAL;
      case TypeOid.JSONB -> ColumnKind.JSONB;
      default -> {
        if (TypeOid.element(oid) != TypeOid.UNSPECIFIED) {
          yield arrayKind(TypeOid.element(oid));
        }
        if (TypeOid.isTextForm(oid)) {
          yield ColumnKind.VARLENA;
        }
        throw new EngineException(
            ErrorCode.UNDEFINED_OBJECT, "type with OID " + oid + " does not exist");
      }
    };
  }

  private static ColumnKind arrayKind(int elementOid) {
    return switch (elementOid) {
      case TypeOid.INT2, TypeOid.INT4, TypeOid.INT8 -> ColumnKind.ARRAY_INTEGER;
      case TypeOid.FLOAT4, TypeOid.FLOAT8 -> ColumnKind.ARRAY_FLOAT;
      case TypeOid.NUMERIC -> ColumnKind.ARRAY_NUMERIC;
      case TypeOid.BPCHAR -> ColumnKind.ARRAY_BPCHAR;
      case TypeOid.DATE -> ColumnKind.ARRAY_DATE;
      case TypeOid.TIMESTAMP -> ColumnKind.ARRAY_TIMESTAMP;
      case TypeOid.TIMESTAMPTZ -> ColumnKind.ARRAY_TIMESTAMPTZ;
      case TypeOid.INTERVAL -> ColumnKind.ARRAY_INTERVAL;
      case TypeOid.JSONB -> ColumnKind.ARRAY_JSONB;
      default -> ColumnKind.ARRAY_TEXT;
    };
  }

  /// The type as format_type() gives it, for example "numeric(15,2)" or "timestamp(3) without time zone".
  public static String format(SqlType type) {
    if (TypeOid.element(type.oid()) != TypeOid.UNSPECIFIED) {
      return format(new SqlType(TypeOid.element(type.oid()), type.typeModifier())) + "[]";
    }
    String name = name(type.oid());
    int modifier = type.typeModifier();
    if (modifier < 0) {
      return type.oid() == TypeOid.BPCHAR ? "bpchar" : name;
    }
    return switch (type.oid()) {
      case TypeOid.BPCHAR, TypeOid.VARCHAR -> name + "(" + (modifier - 4) + ")";
      case TypeOid.NUMERIC -> name + "(" + precision(modifier) + "," + scale(modifier) + ")";
      case TypeOid.TIME, TypeOid.TIMETZ, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ -> {
        int space = name.indexOf(' ');
        yield name.substring(0, space) + "(" + modifier + ")" + name.substring(space);
      }
      case TypeOid.INTERVAL -> {
        String fields = IntervalFields.of(modifier).text();
        int precision = IntervalFields.precision(modifier);
        yield name
            + (fields.isEmpty() ? "" : " " + fields)
            + (precision < 0 ? "" : "(" + precision + ")");
      }
      default -> name;
    };
  }

  /// Digits in all of a numeric's modifier.
  public static int precision(int typeModifier) {
    return ((typeModifier - 4) >>> 16) & 0xFFFF;
  }

  /// Digits after the point of a numeric's modifier, -1000 to 1000.
  public static int scale(int typeModifier) {
    return (((typeModifier - 4) & 0x7FF) ^ 1024) - 1024;
  }

  /// The type with modifiers as written in parentheses, for example `of(NUMERIC, 15, 2)`.
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE for modifiers that PostgreSQL refuses
  public static SqlType of(int oid, int... modifiers) {
    if (modifiers.length == 0) {
      return SqlType.of(oid);
    }
    return switch (oid) {
      case TypeOid.BPCHAR -> characters(oid, "char", modifiers);
      case TypeOid.VARCHAR -> characters(oid, "varchar", modifiers);
      case TypeOid.NUMERIC -> numeric(modifiers);
      case TypeOid.TIME, TypeOid.TIMETZ, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ ->
          new SqlType(oid, timePrecision(modifiers));
      case TypeOid.INTERVAL -> interval(IntervalFields.ALL, modifiers);
      default ->
          throw new EngineException(
              ErrorCode.SYNTAX_ERROR,
              "type modifier is not allowed for type \"" + name(oid) + "\"");
    };
  }

  /// interval with the fields it has, and perhaps digits of its seconds.
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE for modifiers that PostgreSQL refuses
  public static SqlType interval(IntervalFields fields, int... modifiers) {
    if (modifiers.length == 0) {
      return new SqlType(
          TypeOid.INTERVAL, fields == IntervalFields.ALL ? -1 : fields.typeModifier(-1));
    }
    return new SqlType(TypeOid.INTERVAL, fields.typeModifier(timePrecision(modifiers)));
  }

  private static SqlType characters(int oid, String name, int[] modifiers) {
    if (modifiers.length != 1) {
      throw SqlErrors.invalidParameter("invalid type modifier");
    }
    if (modifiers[0] < 1) {
      throw SqlErrors.invalidParameter("length for type " + name + " must be at least 1");
    }
    if (modifiers[0] > MAX_CHARACTERS) {
      throw SqlErrors.invalidParameter(
          "length for type " + name + " cannot exceed " + MAX_CHARACTERS);
    }
    return new SqlType(oid, modifiers[0] + 4);
  }

  private static SqlType numeric(int[] modifiers) {
    if (modifiers.length > 2) {
      throw SqlErrors.invalidParameter("invalid NUMERIC type modifier");
    }
    int precision = modifiers[0];
    int scale = modifiers.length > 1 ? modifiers[1] : 0;
    if (precision < 1 || precision > MAX_NUMERIC_PRECISION) {
      throw SqlErrors.invalidParameter(
          "NUMERIC precision " + precision + " must be between 1 and " + MAX_NUMERIC_PRECISION);
    }
    if (scale < -MAX_NUMERIC_PRECISION || scale > MAX_NUMERIC_PRECISION) {
      throw SqlErrors.invalidParameter(
          "NUMERIC scale " + scale + " must be between -1000 and " + MAX_NUMERIC_PRECISION);
    }
    return new SqlType(TypeOid.NUMERIC, (precision << 16 | (scale & 0x7FF)) + 4);
  }

  private static int timePrecision(int[] modifiers) {
    if (modifiers.length != 1 || modifiers[0] < 0) {
      throw SqlErrors.invalidParameter("invalid type modifier");
    }
    return Math.min(modifiers[0], MAX_TIME_PRECISION);
  }
}
