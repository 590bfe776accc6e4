package dev.kakehashi.engine.api;

import java.lang.foreign.MemorySegment;

/// Parameter rows of one execution: a checked row batch (PROTOCOL.md §6), or none.
///
/// The memory of a long batch ([#isLong()]) may be the client's, who can change it until the execution reports its end: whoever reads it
/// checks what he reads, as he uses it.
///
/// @param batch the whole batch, offsets relative to its start; the empty segment when there are no parameters
/// @param rowCount rows in it; 0 when there are no parameters
public record ParameterBatch(MemorySegment batch, int rowCount) {
  /// A statement without parameters.
  public static final ParameterBatch NONE = new ParameterBatch(MemorySegment.NULL, 0);

  private static final long USUAL_BYTES = 4 << 20;

  /// Whether the batch is longer than usual, because it has a long row: copying it takes milliseconds.
  public boolean isLong() {
    return isLong(batch);
  }

  public static boolean isLong(MemorySegment batch) {
    return batch.byteSize() > USUAL_BYTES;
  }
}
