package dev.kakehashi.transport.os;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// Ordered access to words of memory shared between processes. The names say the ordering; "plain" is published by a later release.
public final class SharedMemory {
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  public static int getIntAcquire(MemorySegment memory, long offset) {
    return (int) INT.getAcquire(memory, offset);
  }

  public static int getIntVolatile(MemorySegment memory, long offset) {
    return (int) INT.getVolatile(memory, offset);
  }

  public static void putIntRelease(MemorySegment memory, long offset, int value) {
    INT.setRelease(memory, offset, value);
  }

  public static void putIntPlain(MemorySegment memory, long offset, int value) {
    INT.set(memory, offset, value);
  }

  /// Adds 1 with full ordering; returns the value before.
  public static int incrementInt(MemorySegment memory, long offset) {
    return (int) INT.getAndAdd(memory, offset, 1);
  }

  /// Stores `value` with full ordering; returns the value before.
  public static int exchangeInt(MemorySegment memory, long offset, int value) {
    return (int) INT.getAndSet(memory, offset, value);
  }

  public static long getLongAcquire(MemorySegment memory, long offset) {
    return (long) LONG.getAcquire(memory, offset);
  }

  /// One load of the whole word, in no order with others.
  public static long getLongOpaque(MemorySegment memory, long offset) {
    return (long) LONG.getOpaque(memory, offset);
  }

  /// Orders all loads before against everything after.
  public static void acquireFence() {
    VarHandle.acquireFence();
  }

  public static void putLongRelease(MemorySegment memory, long offset, long value) {
    LONG.setRelease(memory, offset, value);
  }

  public static void putLongPlain(MemorySegment memory, long offset, long value) {
    LONG.set(memory, offset, value);
  }

  /// Orders everything before against everything after, stores against loads too (the fence of both sides' "sleeping" protocols).
  public static void fullFence() {
    VarHandle.fullFence();
  }

  private SharedMemory() {}
}
