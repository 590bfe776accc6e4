package dev.kakehashi.protocol.capability;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.ToLongFunction;

/// Capabilities of an engine. Immutable and thread-safe; the same as long as its endpoint runs.
///
/// @param engine its name, as the setting `engine` has it: 1 to 63 characters
/// @param has what it does
/// @param computes what it computes exactly as PostgreSQL does
/// @param keeps types that it keeps without loss
/// @param longestRowBytes longest row that it keeps; 0: what a row batch can have
/// @param mostTransactionBytes most that one transaction may change; 0: as much as there is memory
public record Capabilities(
    String engine,
    Set<Capability> has,
    Set<Computation> computes,
    Set<StoredType> keeps,
    long longestRowBytes,
    long mostTransactionBytes) {
  private static final int LONGEST_NAME = 63;
  private static final int EVERYTHING = Capability.values().length;

  /// Capabilities of the embedded engine, which has everything. An endpoint that says nothing has these.
  public static final Capabilities EMBEDDED = everything("embedded");

  public Capabilities {
    if (engine.isEmpty() || engine.length() > LONGEST_NAME) {
      throw new IllegalArgumentException(
          "an engine's name has 1 to " + LONGEST_NAME + " characters: " + engine);
    }
    if (longestRowBytes < 0 || mostTransactionBytes < 0) {
      throw new IllegalArgumentException("a limit of the engine is negative");
    }
    has = copy(has, Capability.class);
    computes = copy(computes, Computation.class);
    keeps = copy(keeps, StoredType.class);
  }

  /// Everything, without limits.
  public static Capabilities everything(String engine) {
    return new Capabilities(
        engine,
        EnumSet.allOf(Capability.class),
        EnumSet.allOf(Computation.class),
        EnumSet.allOf(StoredType.class),
        0,
        0);
  }

  /// From the bits of the protocol; those that are not known here are left out.
  public static Capabilities ofBits(
      String engine,
      long has,
      long computes,
      long keeps,
      long longestRowBytes,
      long mostTransactionBytes) {
    return new Capabilities(
        engine,
        of(has, Capability.class, Capability::bit),
        of(computes, Computation.class, Computation::bit),
        of(keeps, StoredType.class, StoredType::bit),
        longestRowBytes,
        mostTransactionBytes);
  }

  /// Whether it does everything, so that there is no more to ask. The answer says nothing of computations and types.
  public boolean hasEverything() {
    return has.size() == EVERYTHING;
  }

  public boolean has(Capability capability) {
    return has.contains(capability);
  }

  public boolean computes(Computation computation) {
    return computes.contains(computation);
  }

  public boolean keeps(StoredType type) {
    return keeps.contains(type);
  }

  /// The same without some.
  public Capabilities without(Capability... absent) {
    EnumSet<Capability> left = of(hasBits(), Capability.class, Capability::bit);
    left.removeAll(Set.of(absent));
    return new Capabilities(engine, left, computes, keeps, longestRowBytes, mostTransactionBytes);
  }

  /// The same without some.
  public Capabilities without(Computation... absent) {
    EnumSet<Computation> left = of(computesBits(), Computation.class, Computation::bit);
    left.removeAll(Set.of(absent));
    return new Capabilities(engine, has, left, keeps, longestRowBytes, mostTransactionBytes);
  }

  /// The same without some.
  public Capabilities without(StoredType... absent) {
    EnumSet<StoredType> left = of(keepsBits(), StoredType.class, StoredType::bit);
    left.removeAll(Set.of(absent));
    return new Capabilities(engine, has, computes, left, longestRowBytes, mostTransactionBytes);
  }

  /// The same with other limits.
  public Capabilities withLimits(long rowBytes, long transactionBytes) {
    return new Capabilities(engine, has, computes, keeps, rowBytes, transactionBytes);
  }

  /// [#has] as bits of the protocol.
  public long hasBits() {
    return bits(has, Capability::bit);
  }

  /// [#computes] as bits of the protocol.
  public long computesBits() {
    return bits(computes, Computation::bit);
  }

  /// [#keeps] as bits of the protocol.
  public long keepsBits() {
    return bits(keeps, StoredType::bit);
  }

  /// Message of the refusal of what it lacks.
  public String lacking(Capability capability) {
    return "engine \"" + engine + "\" has no " + capability.title();
  }

  private static <E extends Enum<E>> Set<E> copy(Set<E> some, Class<E> type) {
    EnumSet<E> result = EnumSet.noneOf(type);
    result.addAll(some);
    return Collections.unmodifiableSet(result);
  }

  private static <E extends Enum<E>> EnumSet<E> of(
      long bits, Class<E> type, ToLongFunction<E> bit) {
    EnumSet<E> result = EnumSet.allOf(type);
    result.removeIf(member -> (bits & bit.applyAsLong(member)) == 0);
    return result;
  }

  private static <E extends Enum<E>> long bits(Set<E> some, ToLongFunction<E> bit) {
    long result = 0;
    for (E member : some) {
      result |= bit.applyAsLong(member);
    }
    return result;
  }
}
