package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.memory.Native;

/// Lengths of by-reference values.
public final class VarlenaLengths {
  private VarlenaLengths() {}

  /// Total bytes of a varlena with plain 4-byte header, header included.
  public static int bytes(long address) {
    return Native.getInt(address) >>> 2;
  }

  /// Bytes of a by-reference value.
  public static int bytes(ColumnKind kind, long address) {
    return kind == ColumnKind.UUID || kind == ColumnKind.INTERVAL ? 16 : bytes(address);
  }
}
