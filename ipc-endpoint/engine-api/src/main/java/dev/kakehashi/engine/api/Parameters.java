package dev.kakehashi.engine.api;

import java.lang.foreign.MemorySegment;

/// Parameter rows of one execution: a checked row batch (PROTOCOL.md §6), or none.
///
/// @param batch the whole batch, offsets relative to its start; the empty segment when there are no parameters
/// @param rowCount rows in it; 0 when there are no parameters
public record Parameters(MemorySegment batch, int rowCount) {
  /// A statement without parameters.
  public static final Parameters NONE = new Parameters(MemorySegment.NULL, 0);
}
