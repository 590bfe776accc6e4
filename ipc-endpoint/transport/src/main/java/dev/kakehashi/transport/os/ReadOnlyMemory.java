package dev.kakehashi.transport.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Files of other processes that are mapped for reading alone. Stateless.
public final class ReadOnlyMemory {
  private ReadOnlyMemory() {}

  /// Maps a file from its begin on. It may be longer than the file is now, which then grows: bytes behind its end must not be touched, that
  /// is a SIGBUS.
  ///
  /// @param descriptor stays the caller's, who may close it at once
  /// @param bytes to map, more than 0
  /// @param arena unmaps when it is closed; who touches the memory then gets an [IllegalStateException]
  /// @return null: the system refuses, as with a limit of addresses
  @SuppressWarnings("restricted") // the address and the length are those of the mapping
  public static @Nullable MemorySegment map(int descriptor, long bytes, Arena arena) {
    long address = Linux.mapForReading(descriptor, bytes);
    return address < 0
        ? null
        : MemorySegment.ofAddress(address)
            .reinterpret(bytes, arena, mapped -> Linux.unmap(address, bytes))
            .asReadOnly();
  }
}
