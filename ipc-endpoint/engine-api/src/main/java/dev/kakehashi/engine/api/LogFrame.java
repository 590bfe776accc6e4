package dev.kakehashi.engine.api;

/// The last piece of a log before a position: two logs that have another one there are of two histories.
///
/// @param at where it begins
/// @param checksum of it, and of the pieces of its group before it
public record LogFrame(LogPosition at, int checksum) {
  @Override
  public String toString() {
    return "%s (checksum %08x)".formatted(at, checksum);
  }
}
