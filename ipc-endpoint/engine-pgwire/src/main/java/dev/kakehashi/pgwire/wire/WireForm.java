package dev.kakehashi.pgwire.wire;

import dev.kakehashi.protocol.TypeOid;
import org.jspecify.annotations.Nullable;

/// How a value of a type looks on the wire, in its binary format, and in a row batch.
enum WireForm {
  /// One byte.
  BOOL(1),
  INT2(2),
  INT4(4),
  INT8(8),
  /// Four bytes whose bits are the low ones of the word.
  FLOAT4(4),
  /// Sixteen bytes on the heap, as they are.
  UUID(16),
  /// Sixteen bytes on the heap in the other order of bytes.
  INTERVAL(16),
  NUMERIC(0),
  /// A varlena of the bytes.
  BYTES(0),
  /// The same, of the text format.
  TEXT(0);

  private final int bytes;

  WireForm(int bytes) {
    this.bytes = bytes;
  }

  /// Length on the wire; 0: it varies.
  int bytes() {
    return bytes;
  }

  /// Format code of the protocol.
  int format() {
    return this == TEXT ? 0 : 1;
  }

  /// Whether row batches have it on their heap.
  boolean byReference() {
    return switch (this) {
      case UUID, INTERVAL, NUMERIC, BYTES, TEXT -> true;
      case BOOL, INT2, INT4, INT8, FLOAT4 -> false;
    };
  }

  /// Whether values of a type cross the bridge.
  static boolean isKnown(int oid) {
    return find(oid) != null;
  }

  static WireForm of(int oid) {
    WireForm form = find(oid);
    if (form == null) {
      throw new IllegalArgumentException("type " + oid + " does not cross the bridge");
    }
    return form;
  }

  private static @Nullable WireForm find(int oid) {
    return switch (oid) {
      case TypeOid.BOOL -> BOOL;
      case TypeOid.INT2 -> INT2;
      case TypeOid.INT4, TypeOid.DATE -> INT4;
      case TypeOid.INT8, TypeOid.FLOAT8, TypeOid.TIME, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ ->
          INT8;
      case TypeOid.FLOAT4 -> FLOAT4;
      case TypeOid.UUID -> UUID;
      case TypeOid.INTERVAL -> INTERVAL;
      case TypeOid.NUMERIC -> NUMERIC;
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR, TypeOid.BYTEA -> BYTES;
      default -> TypeOid.isTextForm(oid) ? TEXT : null;
    };
  }
}
