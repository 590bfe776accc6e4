package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.vector.VarHeap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// Access to native memory by absolute address. Nothing is checked here: the caller has established that the address lies in
/// memory that its pool still owns.
///
/// Plain accesses are single machine accesses for aligned addresses, so a value is old or new, never a mixture; what orders them is
/// said where they are used.
public final class Native {
  private static final MemorySegment MEMORY = VarHeap.MEMORY;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfLong LONG_ANY = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT_ANY = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfShort SHORT_ANY = ValueLayout.JAVA_SHORT_UNALIGNED;
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
  private static final VarHandle LONG_HANDLE = ValueLayout.JAVA_LONG.varHandle();

  static {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new AssertionError("values are kept in PostgreSQL's little-endian form");
    }
  }

  private Native() {}

  public static long getLong(long address) {
    return MEMORY.get(LONG, address);
  }

  public static void putLong(long address, long value) {
    MEMORY.set(LONG, address, value);
  }

  public static long getLongUnaligned(long address) {
    return MEMORY.get(LONG_ANY, address);
  }

  public static void putLongUnaligned(long address, long value) {
    MEMORY.set(LONG_ANY, address, value);
  }

  public static int getInt(long address) {
    return MEMORY.get(INT_ANY, address);
  }

  public static void putInt(long address, int value) {
    MEMORY.set(INT_ANY, address, value);
  }

  public static int getUnsignedShort(long address) {
    return MEMORY.get(SHORT_ANY, address) & 0xFFFF;
  }

  public static void putShort(long address, int value) {
    MEMORY.set(SHORT_ANY, address, (short) value);
  }

  public static byte getByte(long address) {
    return MEMORY.get(BYTE, address);
  }

  public static void putByte(long address, byte value) {
    MEMORY.set(BYTE, address, value);
  }

  public static long getLongAcquire(long address) {
    return (long) LONG_HANDLE.getAcquire(MEMORY, address);
  }

  public static void putLongRelease(long address, long value) {
    LONG_HANDLE.setRelease(MEMORY, address, value);
  }

  public static boolean compareAndSetLong(long address, long expected, long value) {
    return LONG_HANDLE.compareAndSet(MEMORY, address, expected, value);
  }

  /// Copies bytes; the ranges may overlap.
  public static void copy(long from, long to, long bytes) {
    MemorySegment.copy(MEMORY, from, MEMORY, to, bytes);
  }

  public static void copyToArray(long from, byte[] to, int index, int count) {
    MemorySegment.copy(MEMORY, BYTE, from, to, index, count);
  }

  public static void copyFromArray(byte[] from, int index, long to, int count) {
    MemorySegment.copy(from, index, MEMORY, BYTE, to, count);
  }

  /// Copies aligned words.
  public static void copyToArray(long from, long[] to, int index, int count) {
    MemorySegment.copy(MEMORY, LONG, from, to, index, count);
  }

  public static void copyFromArray(long[] from, int index, long to, int count) {
    MemorySegment.copy(from, index, MEMORY, LONG, to, count);
  }

  /// Copies the next bytes of a direct buffer, whose position stays.
  public static void copyFromBuffer(ByteBuffer from, long to, int count) {
    MemorySegment.copy(MemorySegment.ofBuffer(from), 0, MEMORY, to, count);
  }

  public static void zero(long address, long bytes) {
    MEMORY.asSlice(address, bytes).fill((byte) 0);
  }

  /// Whether two ranges hold the same bytes.
  public static boolean equalBytes(long a, long b, long bytes) {
    return MemorySegment.mismatch(MEMORY, a, a + bytes, MEMORY, b, b + bytes) < 0;
  }
}
