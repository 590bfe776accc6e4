package dev.kakehashi.engine.store.api;

import java.nio.ByteBuffer;

/// Where a sequence stands: as far as values are, or may be, given out.
///
/// @param called whether `last` itself is given out
public record SequencePosition(long last, boolean called) {
  public byte[] encoded() {
    return ByteBuffer.allocate(9).putLong(last).put((byte) (called ? 1 : 0)).array();
  }
}
