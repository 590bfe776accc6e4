package dev.kakehashi.bulk.parquet.thrift;

/// An element of a schema, in Parquet's order: a node before its children.
///
/// @param physical type; -1: a group
/// @param length bytes of a FIXED value
/// @param repetition REQUIRED for the root
/// @param children of a group
/// @param logical what the values mean
/// @param precision of a decimal; bits of an integer; 3, 6, 9: digits of a second that a time or timestamp has
/// @param scale of a decimal
/// @param flag whether an integer is signed; whether a time or timestamp is in UTC
public record SchemaNode(
    String name,
    int physical,
    int length,
    int repetition,
    int children,
    LogicalKind logical,
    int precision,
    int scale,
    boolean flag) {
  private static final int GROUP = -1;
  private static final int MILLIS = 3;
  private static final int MICROS = 6;
  private static final int NANOS = 9;

  /// A group.
  public static SchemaNode group(String name, int repetition, int children, LogicalKind logical) {
    return new SchemaNode(name, GROUP, 0, repetition, children, logical, 0, 0, false);
  }

  /// A leaf without parameters.
  public static SchemaNode leaf(
      String name, int physical, int length, int repetition, LogicalKind logical) {
    return new SchemaNode(name, physical, length, repetition, 0, logical, 0, 0, false);
  }

  public SchemaNode decimal(int newPrecision, int newScale) {
    return new SchemaNode(
        name, physical, length, repetition, 0, LogicalKind.DECIMAL, newPrecision, newScale, false);
  }

  /// A time or timestamp of microseconds.
  public SchemaNode micros(boolean utc) {
    return new SchemaNode(name, physical, length, repetition, 0, logical, MICROS, 0, utc);
  }

  /// A signed integer.
  public SchemaNode integer(int bits) {
    return new SchemaNode(
        name, physical, length, repetition, 0, LogicalKind.INTEGER, bits, 0, true);
  }

  public SchemaNode named(String newName, int newRepetition) {
    return new SchemaNode(
        newName, physical, length, newRepetition, children, logical, precision, scale, flag);
  }

  public boolean isGroup() {
    return physical < 0;
  }

  /// Writes the element.
  public void write(CompactWriter out) {
    out.beginElement();
    if (!isGroup()) {
      out.i32(1, physical);
      if (physical == Physical.FIXED) {
        out.i32(2, length);
      }
    }
    if (repetition >= 0) {
      out.i32(3, repetition);
    }
    out.string(4, name);
    if (isGroup()) {
      out.i32(5, children);
    }
    int converted = converted();
    if (converted >= 0) {
      out.i32(6, converted);
    }
    if (logical == LogicalKind.DECIMAL) {
      out.i32(7, scale);
      out.i32(8, precision);
    }
    writeLogical(out);
    out.end();
  }

  private int converted() {
    return switch (logical) {
      case STRING -> 0;
      case LIST -> 3;
      case ENUM -> 4;
      case DECIMAL -> 5;
      case DATE -> 6;
      case TIME -> flag ? 8 : -1;
      case TIMESTAMP -> flag ? 10 : -1;
      case INTEGER -> precision == 16 ? 16 : precision == 32 ? 17 : 18;
      case JSON -> 19;
      default -> -1;
    };
  }

  private void writeLogical(CompactWriter out) {
    if (logical == LogicalKind.NONE) {
      return;
    }
    out.begin(10);
    switch (logical) {
      case STRING -> out.empty(1);
      case LIST -> out.empty(3);
      case ENUM -> out.empty(4);
      case DECIMAL -> {
        out.begin(5);
        out.i32(1, scale);
        out.i32(2, precision);
        out.end();
      }
      case DATE -> out.empty(6);
      case TIME -> writeTime(out, 7);
      case TIMESTAMP -> writeTime(out, 8);
      case INTEGER -> {
        out.begin(10);
        out.i8(1, precision);
        out.bool(2, flag);
        out.end();
      }
      case JSON -> out.empty(12);
      case UUID -> out.empty(14);
      default -> throw new IllegalStateException("type " + logical + " is not written");
    }
    out.end();
  }

  private void writeTime(CompactWriter out, int field) {
    out.begin(field);
    out.bool(1, flag);
    out.begin(2);
    out.empty(2);
    out.end();
    out.end();
  }

  /// Reads the element that the reader is at.
  static SchemaNode read(CompactReader in) {
    String name = "";
    int physical = GROUP;
    int length = 0;
    int repetition = Physical.REQUIRED;
    int children = 0;
    int converted = -1;
    int precision = 0;
    int scale = 0;
    SchemaNode logical = null;
    in.begin();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> physical = in.i32();
        case 2 -> length = in.i32();
        case 3 -> repetition = in.i32();
        case 4 -> name = in.string();
        case 5 -> children = in.i32();
        case 6 -> converted = in.i32();
        case 7 -> scale = in.i32();
        case 8 -> precision = in.i32();
        case 10 -> logical = readLogical(in);
        default -> in.skip();
      }
    }
    boolean sane =
        physical >= GROUP
            && physical <= Physical.FIXED
            && length >= 0
            && repetition >= Physical.REQUIRED
            && repetition <= Physical.REPEATED
            && children >= 0
            && (physical != Physical.FIXED || length > 0);
    if (!sane) {
      throw FileMeta.malformed("has an impossible type of column \"" + name + "\"");
    }
    SchemaNode old = ofConverted(converted, precision, scale);
    // Some writers say of intervals that they are unknown.
    boolean isVague =
        logical == null
            || logical.logical == LogicalKind.UNKNOWN
            || logical.logical == LogicalKind.OTHER;
    SchemaNode meaning =
        logical == null || (isVague && old.logical != LogicalKind.NONE) ? old : logical;
    return new SchemaNode(
        name,
        physical,
        length,
        repetition,
        children,
        meaning.logical,
        meaning.precision,
        meaning.scale,
        meaning.flag);
  }

  private static SchemaNode meaning(LogicalKind kind, int precision, int scale, boolean flag) {
    return new SchemaNode("", GROUP, 0, Physical.REQUIRED, 0, kind, precision, scale, flag);
  }

  private static SchemaNode ofConverted(int converted, int precision, int scale) {
    return switch (converted) {
      case -1 -> meaning(LogicalKind.NONE, 0, 0, false);
      case 0 -> meaning(LogicalKind.STRING, 0, 0, false);
      case 1, 2 -> meaning(LogicalKind.MAP, 0, 0, false);
      case 3 -> meaning(LogicalKind.LIST, 0, 0, false);
      case 4 -> meaning(LogicalKind.ENUM, 0, 0, false);
      case 5 -> meaning(LogicalKind.DECIMAL, precision, scale, false);
      case 6 -> meaning(LogicalKind.DATE, 0, 0, false);
      case 7 -> meaning(LogicalKind.TIME, MILLIS, 0, true);
      case 8 -> meaning(LogicalKind.TIME, MICROS, 0, true);
      case 9 -> meaning(LogicalKind.TIMESTAMP, MILLIS, 0, true);
      case 10 -> meaning(LogicalKind.TIMESTAMP, MICROS, 0, true);
      case 11, 12, 13, 14 -> meaning(LogicalKind.INTEGER, 8 << (converted - 11), 0, false);
      case 15, 16, 17, 18 -> meaning(LogicalKind.INTEGER, 8 << (converted - 15), 0, true);
      case 19 -> meaning(LogicalKind.JSON, 0, 0, false);
      case 20 -> meaning(LogicalKind.BSON, 0, 0, false);
      case 21 -> meaning(LogicalKind.INTERVAL, 0, 0, false);
      default -> meaning(LogicalKind.OTHER, 0, 0, false);
    };
  }

  private static SchemaNode readLogical(CompactReader in) {
    SchemaNode found = meaning(LogicalKind.OTHER, 0, 0, false);
    in.struct();
    while (in.next()) {
      int kind = in.field();
      found =
          switch (kind) {
            case 5 -> readParameters(in, LogicalKind.DECIMAL);
            case 7 -> readParameters(in, LogicalKind.TIME);
            case 8 -> readParameters(in, LogicalKind.TIMESTAMP);
            case 10 -> readParameters(in, LogicalKind.INTEGER);
            default -> {
              in.skip();
              yield meaning(withoutParameters(kind), 0, 0, false);
            }
          };
    }
    return found;
  }

  private static LogicalKind withoutParameters(int kind) {
    return switch (kind) {
      case 1 -> LogicalKind.STRING;
      case 2 -> LogicalKind.MAP;
      case 3 -> LogicalKind.LIST;
      case 4 -> LogicalKind.ENUM;
      case 6 -> LogicalKind.DATE;
      case 11 -> LogicalKind.UNKNOWN;
      case 12 -> LogicalKind.JSON;
      case 13 -> LogicalKind.BSON;
      case 14 -> LogicalKind.UUID;
      case 15 -> LogicalKind.FLOAT16;
      default -> LogicalKind.OTHER;
    };
  }

  private static SchemaNode readParameters(CompactReader in, LogicalKind kind) {
    int precision = 0;
    int scale = 0;
    boolean flag = false;
    in.struct();
    while (in.next()) {
      switch (in.field()) {
        case 1 -> {
          switch (kind) {
            case DECIMAL -> scale = in.i32();
            case INTEGER -> precision = in.i32();
            default -> flag = in.bool();
          }
        }
        case 2 -> {
          switch (kind) {
            case DECIMAL -> precision = in.i32();
            case INTEGER -> flag = in.bool();
            default -> precision = readUnit(in);
          }
        }
        default -> in.skip();
      }
    }
    return meaning(kind, precision, scale, flag);
  }

  private static int readUnit(CompactReader in) {
    int digits = 0;
    in.struct();
    while (in.next()) {
      digits =
          switch (in.field()) {
            case 1 -> MILLIS;
            case 2 -> MICROS;
            case 3 -> NANOS;
            default -> 0;
          };
      in.skip();
    }
    return digits;
  }
}
