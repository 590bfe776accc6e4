package dev.kakehashi.scheduler.process;

/// Address of a process. The slot is used again after its end, with the next generation, so an old address never
/// reaches a later process.
///
/// @param slot place in the table of processes
/// @param generation how many processes had that place before
public record Pid(int slot, int generation) {
  @Override
  public String toString() {
    return slot + "." + Integer.toUnsignedString(generation);
  }
}
