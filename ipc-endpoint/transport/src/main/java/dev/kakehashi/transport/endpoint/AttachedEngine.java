package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.capability.Capabilities;

/// The engine as clients get it when they attach. Thread-safe.
@FunctionalInterface
public interface AttachedEngine {
  /// Sent in the descriptor's place where there is none.
  int NO_DESCRIPTOR = -1;

  /// Its capabilities.
  Capabilities capabilities();

  /// Descriptor, open for reading alone, of the memory that a client of an OS user may map: all rows are in it. Stays the engine's.
  ///
  /// @return [#NO_DESCRIPTOR]: that user's clients get none
  default int memoryFor(int uid) {
    return NO_DESCRIPTOR;
  }
}
