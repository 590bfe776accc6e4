package dev.kakehashi.engine.type;

/// The numbers that a sequence gives.
///
/// @param stateId number of its position in the store; a restart gives it another
/// @param name for error messages
/// @param start first value
/// @param increment not 0
/// @param cache values that one record of the log covers, 1 or more
/// @param cycles begins again at its end instead of failing
public record SequenceDefinition(
    long stateId,
    String name,
    long start,
    long increment,
    long min,
    long max,
    long cache,
    boolean cycles) {
  /// The same numbers, called otherwise in messages.
  public SequenceDefinition withName(String newName) {
    return new SequenceDefinition(stateId, newName, start, increment, min, max, cache, cycles);
  }
}
