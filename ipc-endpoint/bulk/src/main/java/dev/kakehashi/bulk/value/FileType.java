package dev.kakehashi.bulk.value;

import org.jspecify.annotations.Nullable;

/// Type of a file's column, and how its values lie in [FileValues]. Immutable.
///
/// @param kind what it is
/// @param bits of an integer or float; bytes × 8 of FIXED and of wide decimals; 0: no matter
/// @param precision of a decimal
/// @param scale of a decimal; negative: whole tens, hundreds, ...
/// @param units of a time or timestamp
/// @param utc whether a timestamp is an instant
/// @param item elements of a list; null: it is none
public record FileType(
    Kind kind,
    int bits,
    int precision,
    int scale,
    TimeUnits units,
    boolean utc,
    @Nullable FileType item) {
  /// How values lie.
  public enum Storage {
    /// One long each.
    LONG,
    /// A piece of bytes each.
    BYTES,
    /// A stretch of the items each.
    LIST,
    /// All are null.
    NONE
  }

  /// Kinds, with how a value lies.
  public enum Kind {
    /// 0 or 1.
    BOOL(Storage.LONG),
    /// Sign-extended.
    INT(Storage.LONG),
    /// Zero-extended; of 64 bits as they are.
    UINT(Storage.LONG),
    /// Bits of a double, whatever the file's width: of 16 and 32 bits widened exactly.
    FLOAT(Storage.LONG),
    /// Unscaled value; up to 18 digits.
    DECIMAL(Storage.LONG),
    /// Unscaled value, two's complement, most significant byte first, 1 … 64 bytes.
    DECIMAL_BIG_ENDIAN(Storage.BYTES),
    /// Unscaled value, two's complement, least significant byte first, 1 … 64 bytes.
    DECIMAL_LITTLE_ENDIAN(Storage.BYTES),
    /// UTF-8, unchecked.
    TEXT(Storage.BYTES),
    BYTES(Storage.BYTES),
    /// Bytes, all of one length.
    FIXED(Storage.BYTES),
    /// 16 bytes.
    UUID(Storage.BYTES),
    /// JSON as UTF-8, unchecked.
    JSON(Storage.BYTES),
    /// Days since 1970-01-01.
    DATE(Storage.LONG),
    /// Units since midnight.
    TIME(Storage.LONG),
    /// Units since 1970-01-01.
    TIMESTAMP(Storage.LONG),
    /// 12 bytes: u64 nanoseconds of the day, u32 Julian day, little-endian.
    INT96(Storage.BYTES),
    /// i32.
    INTERVAL_MONTHS(Storage.LONG),
    /// 8 bytes: i32 days, i32 milliseconds.
    INTERVAL_DAYS_MILLIS(Storage.BYTES),
    /// 12 bytes: u32 months, u32 days, u32 milliseconds (Parquet's INTERVAL).
    INTERVAL_UNSIGNED(Storage.BYTES),
    /// 16 bytes: i32 months, i32 days, i64 nanoseconds.
    INTERVAL_NANOS(Storage.BYTES),
    /// 16 bytes: i32 months, i32 days, i64 microseconds.
    INTERVAL_MICROS(Storage.BYTES),
    LIST(Storage.LIST),
    NULL(Storage.NONE);

    private final Storage storage;

    Kind(Storage storage) {
      this.storage = storage;
    }

    public Storage storage() {
      return storage;
    }
  }

  public static final FileType BOOL = of(Kind.BOOL);
  public static final FileType TEXT = of(Kind.TEXT);
  public static final FileType BYTES = of(Kind.BYTES);
  public static final FileType UUID = of(Kind.UUID);
  public static final FileType JSON = of(Kind.JSON);
  public static final FileType DATE = of(Kind.DATE);
  public static final FileType INT96 = of(Kind.INT96);
  public static final FileType NULL = of(Kind.NULL);

  private static final int LONG_DIGITS = 18;

  /// Type of a kind that has no more to it.
  public static FileType of(Kind kind) {
    return new FileType(kind, 0, 0, 0, TimeUnits.MICROS, false, null);
  }

  /// @param bits 8, 16, 32, 64
  public static FileType integer(int bits, boolean signed) {
    return sized(signed ? Kind.INT : Kind.UINT, bits);
  }

  /// @param bits 16, 32, 64
  public static FileType floating(int bits) {
    return sized(Kind.FLOAT, bits);
  }

  /// @param bytes of each value
  public static FileType fixed(int bytes) {
    return sized(Kind.FIXED, 8 * bytes);
  }

  private static FileType sized(Kind kind, int bits) {
    return new FileType(kind, bits, 0, 0, TimeUnits.MICROS, false, null);
  }

  /// A decimal that lies as a long.
  ///
  /// @throws IllegalArgumentException for more digits than 18
  public static FileType decimal(int precision, int scale) {
    if (precision > LONG_DIGITS) {
      throw new IllegalArgumentException("decimal of " + precision + " digits");
    }
    return decimal(Kind.DECIMAL, precision, scale);
  }

  /// A decimal of any width.
  ///
  /// @param kind DECIMAL, DECIMAL_BIG_ENDIAN or DECIMAL_LITTLE_ENDIAN
  public static FileType decimal(Kind kind, int precision, int scale) {
    return new FileType(kind, 0, precision, scale, TimeUnits.MICROS, false, null);
  }

  public static FileType time(TimeUnits units) {
    return new FileType(Kind.TIME, 0, 0, 0, units, false, null);
  }

  public static FileType timestamp(TimeUnits units, boolean utc) {
    return new FileType(Kind.TIMESTAMP, 0, 0, 0, units, utc, null);
  }

  /// @throws IllegalArgumentException for a list of lists
  public static FileType list(FileType item) {
    if (item.kind == Kind.LIST) {
      throw new IllegalArgumentException("list of lists");
    }
    return new FileType(Kind.LIST, 0, 0, 0, TimeUnits.MICROS, false, item);
  }

  public Storage storage() {
    return kind.storage();
  }

  /// The SQL type that holds all values, as SQL writes it.
  public String sqlName() {
    return switch (kind) {
      case BOOL -> "boolean";
      case INT -> bits <= 16 ? "smallint" : bits <= 32 ? "integer" : "bigint";
      case UINT ->
          bits <= 8 ? "smallint" : bits <= 16 ? "integer" : bits <= 32 ? "bigint" : "numeric(20,0)";
      case FLOAT -> bits <= 32 ? "real" : "double precision";
      case DECIMAL, DECIMAL_BIG_ENDIAN, DECIMAL_LITTLE_ENDIAN ->
          precision == 0 ? "numeric" : "numeric(" + precision + "," + scale + ")";
      case TEXT, NULL -> "text";
      case BYTES, FIXED -> "bytea";
      case UUID -> "uuid";
      case JSON -> "jsonb";
      case DATE -> "date";
      case TIME -> "time without time zone";
      case TIMESTAMP -> utc ? "timestamp with time zone" : "timestamp without time zone";
      case INT96 -> "timestamp without time zone";
      case INTERVAL_MONTHS,
          INTERVAL_DAYS_MILLIS,
          INTERVAL_UNSIGNED,
          INTERVAL_NANOS,
          INTERVAL_MICROS ->
          "interval";
      case LIST -> (item == null ? "text" : item.sqlName()) + "[]";
    };
  }

  /// Name of the type in messages, for example `uint64`, `timestamp[ns, UTC]`, `list<decimal(10,2)>`.
  @Override
  public String toString() {
    return switch (kind) {
      case BOOL -> "bool";
      case INT -> "int" + bits;
      case UINT -> "uint" + bits;
      case FLOAT -> "float" + bits;
      case DECIMAL, DECIMAL_BIG_ENDIAN, DECIMAL_LITTLE_ENDIAN ->
          "decimal(" + precision + "," + scale + ")";
      case TEXT -> "text";
      case BYTES -> "bytes";
      case FIXED -> "bytes(" + bits / 8 + ")";
      case UUID -> "uuid";
      case JSON -> "json";
      case DATE -> "date";
      case TIME -> "time[" + unitsName() + "]";
      case TIMESTAMP -> "timestamp[" + unitsName() + (utc ? ", UTC]" : "]");
      case INT96 -> "timestamp[int96]";
      case INTERVAL_MONTHS -> "interval[months]";
      case INTERVAL_DAYS_MILLIS -> "interval[days, ms]";
      case INTERVAL_UNSIGNED -> "interval[months, days, ms]";
      case INTERVAL_NANOS -> "interval[months, days, ns]";
      case INTERVAL_MICROS -> "interval[months, days, us]";
      case LIST -> "list<" + item + ">";
      case NULL -> "null";
    };
  }

  private String unitsName() {
    return switch (units) {
      case SECONDS -> "s";
      case MILLIS -> "ms";
      case MICROS -> "us";
      case NANOS -> "ns";
    };
  }
}
