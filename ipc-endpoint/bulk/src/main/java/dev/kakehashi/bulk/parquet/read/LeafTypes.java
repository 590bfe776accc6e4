package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.LogicalKind;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.bulk.value.TimeUnits;
import org.jspecify.annotations.Nullable;

/// Types of a file's leaves.
final class LeafTypes {
  private static final int INT_DIGITS = 9;
  private static final int LONG_DIGITS = 18;

  /// Digits that 64 bytes hold.
  private static final int MAX_DIGITS = 153;

  private static final int MAX_DECIMAL_BYTES = 64;
  private static final int UUID_BYTES = 16;
  private static final int INTERVAL_BYTES = 12;
  private static final int INT96_BYTES = 12;
  private static final int HALF_BYTES = 2;
  private static final int MILLI_DIGITS = 3;
  private static final int NANO_DIGITS = 9;

  private LeafTypes() {}

  /// @return null for a combination that does not exist, or is newer than this reader
  static @Nullable FileType of(SchemaNode node) {
    return switch (node.physical()) {
      case Physical.BOOLEAN -> plain(node, FileType.BOOL);
      case Physical.INT32 -> int32(node);
      case Physical.INT64 -> int64(node);
      case Physical.INT96 -> plain(node, FileType.INT96);
      case Physical.FLOAT -> plain(node, FileType.floating(32));
      case Physical.DOUBLE -> plain(node, FileType.floating(64));
      case Physical.BYTE_ARRAY -> bytes(node);
      case Physical.FIXED -> fixed(node);
      default -> null;
    };
  }

  private static @Nullable FileType plain(SchemaNode node, FileType type) {
    return node.logical() == LogicalKind.NONE ? type : null;
  }

  private static @Nullable FileType int32(SchemaNode node) {
    return switch (node.logical()) {
      case NONE -> FileType.integer(32, true);
      case INTEGER -> integer(node, 32);
      case DECIMAL ->
          isDecimal(node, INT_DIGITS) ? FileType.decimal(node.precision(), node.scale()) : null;
      case DATE -> FileType.DATE;
      case TIME -> node.precision() == MILLI_DIGITS ? FileType.time(TimeUnits.MILLIS) : null;
      default -> null;
    };
  }

  private static @Nullable FileType int64(SchemaNode node) {
    return switch (node.logical()) {
      case NONE -> FileType.integer(64, true);
      case INTEGER -> integer(node, 64);
      case DECIMAL ->
          isDecimal(node, LONG_DIGITS) ? FileType.decimal(node.precision(), node.scale()) : null;
      case TIME -> {
        TimeUnits units = units(node);
        yield units == null || units == TimeUnits.MILLIS ? null : FileType.time(units);
      }
      case TIMESTAMP -> {
        TimeUnits units = units(node);
        yield units == null ? null : FileType.timestamp(units, node.flag());
      }
      default -> null;
    };
  }

  private static @Nullable FileType integer(SchemaNode node, int width) {
    int bits = node.precision();
    boolean sane = bits == width || (width == 32 && (bits == 8 || bits == 16));
    return sane ? FileType.integer(bits, node.flag()) : null;
  }

  private static @Nullable TimeUnits units(SchemaNode node) {
    return switch (node.precision()) {
      case MILLI_DIGITS -> TimeUnits.MILLIS;
      case 6 -> TimeUnits.MICROS;
      case NANO_DIGITS -> TimeUnits.NANOS;
      default -> null;
    };
  }

  private static boolean isDecimal(SchemaNode node, int maxPrecision) {
    return node.precision() >= 1
        && node.precision() <= maxPrecision
        && node.scale() >= 0
        && node.scale() <= node.precision();
  }

  private static @Nullable FileType bytes(SchemaNode node) {
    return switch (node.logical()) {
      case NONE, BSON -> FileType.BYTES;
      case STRING, ENUM -> FileType.TEXT;
      case JSON -> FileType.JSON;
      case DECIMAL -> wideDecimal(node);
      default -> null;
    };
  }

  private static @Nullable FileType wideDecimal(SchemaNode node) {
    return isDecimal(node, MAX_DIGITS)
        ? FileType.decimal(Kind.DECIMAL_BIG_ENDIAN, node.precision(), node.scale())
        : null;
  }

  private static @Nullable FileType fixed(SchemaNode node) {
    return switch (node.logical()) {
      case NONE -> FileType.fixed(node.length());
      case DECIMAL -> node.length() <= MAX_DECIMAL_BYTES ? wideDecimal(node) : null;
      case UUID -> node.length() == UUID_BYTES ? FileType.UUID : null;
      case FLOAT16 -> node.length() == HALF_BYTES ? FileType.floating(16) : null;
      case INTERVAL -> node.length() == INTERVAL_BYTES ? FileType.of(Kind.INTERVAL_UNSIGNED) : null;
      default -> null;
    };
  }

  /// Bytes of a plain value of fixed length; 0 if its length varies, or it is a bit.
  static int width(SchemaNode node) {
    return switch (node.physical()) {
      case Physical.FIXED -> node.length();
      case Physical.INT96 -> INT96_BYTES;
      case Physical.BYTE_ARRAY -> 0;
      default -> Physical.width(node.physical());
    };
  }

  /// Most bytes of a value of variable length.
  static int maxBytes(FileType type) {
    return type.kind() == Kind.DECIMAL_BIG_ENDIAN ? MAX_DECIMAL_BYTES : Integer.MAX_VALUE;
  }
}
