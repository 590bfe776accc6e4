package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.vector.VarHeap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Objects;
import org.agrona.UnsafeApi;
import org.jspecify.annotations.Nullable;

/// Access to native memory by absolute address. Nothing is checked here: the caller has established that the address lies in
/// memory that its pool still owns.
///
/// Words are read and written by Agrona's [UnsafeApi], the JVM's own `Unsafe`, and not by [MemorySegment]: after the second compiler it is
/// the same, but a start ends before that has come to most methods, and until then each access by segment is a dozen calls. It compiles in
/// a third of the time, too.
///
/// Plain accesses are single machine accesses for aligned addresses, so a value is old or new, never a mixture; what orders them is
/// said where they are used.
public final class Native {
  private static final MemorySegment MEMORY = VarHeap.MEMORY;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final long ARRAY_START = UnsafeApi.arrayBaseOffset(byte[].class);

  private static final VarHandle LONG_HANDLE = ValueLayout.JAVA_LONG.varHandle();

  static {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new AssertionError("values are kept in PostgreSQL's little-endian form");
    }
  }

  private Native() {}

  public static long getLong(long address) {
    return UnsafeApi.getLong(address);
  }

  public static void putLong(long address, long value) {
    UnsafeApi.putLong(address, value);
  }

  public static long getLongUnaligned(long address) {
    return UnsafeApi.getLong(address);
  }

  public static void putLongUnaligned(long address, long value) {
    UnsafeApi.putLong(address, value);
  }

  public static int getInt(long address) {
    return UnsafeApi.getInt(address);
  }

  public static void putInt(long address, int value) {
    UnsafeApi.putInt(address, value);
  }

  public static int getUnsignedShort(long address) {
    return UnsafeApi.getShort(address) & 0xFFFF;
  }

  public static void putShort(long address, int value) {
    UnsafeApi.putShort(address, (short) value);
  }

  public static byte getByte(long address) {
    return UnsafeApi.getByte(address);
  }

  public static void putByte(long address, byte value) {
    UnsafeApi.putByte(address, value);
  }

  public static long getLongAcquire(long address) {
    return (long) LONG_HANDLE.getAcquire(MEMORY, address);
  }

  public static void putLongRelease(long address, long value) {
    LONG_HANDLE.setRelease(MEMORY, address, value);
  }

  public static long getLongVolatile(long address) {
    return (long) LONG_HANDLE.getVolatile(MEMORY, address);
  }

  public static void putLongVolatile(long address, long value) {
    LONG_HANDLE.setVolatile(MEMORY, address, value);
  }

  /// Adds to a word, atomically, with the order of a volatile access.
  ///
  /// @return what it was before
  public static long addLong(long address, long value) {
    return (long) LONG_HANDLE.getAndAdd(MEMORY, address, value);
  }

  /// Raises a word to a value at least, atomically, with the order of a volatile access.
  public static void raiseLong(long address, long value) {
    long present = getLongVolatile(address);
    while (present < value && !compareAndSetLong(address, present, value)) {
      present = getLongVolatile(address);
    }
  }

  public static boolean compareAndSetLong(long address, long expected, long value) {
    return LONG_HANDLE.compareAndSet(MEMORY, address, expected, value);
  }

  /// Copies bytes; the ranges may overlap.
  public static void copy(long from, long to, long bytes) {
    UnsafeApi.copyMemory(from, to, bytes);
  }

  /// Copies bytes between ranges that do not overlap.
  public static void copyApart(long from, long to, int bytes) {
    copy(null, from, null, to, bytes);
  }

  public static void copyToArray(long from, byte[] to, int index, int count) {
    Objects.checkFromIndexSize(index, count, to.length);
    copy(null, from, to, ARRAY_START + index, count);
  }

  public static void copyFromArray(byte[] from, int index, long to, int count) {
    Objects.checkFromIndexSize(index, count, from.length);
    copy(from, ARRAY_START + index, null, to, count);
  }

  /// Copies few bytes without a call or a loop: all are read before the first is written, some twice. Few are most of what is copied here,
  /// and a loop that is inlined everywhere keeps the JVM's compiler busy for longer than a start lasts.
  private static void copy(
      @Nullable Object from, long fromAt, @Nullable Object to, long toAt, int bytes) {
    if (bytes > 4 * Long.BYTES || bytes < Long.BYTES) {
      UnsafeApi.copyMemory(from, fromAt, to, toAt, bytes);
      return;
    }
    int last = bytes - Long.BYTES;
    int second = Math.min(last, Long.BYTES);
    int third = Math.max(0, last - Long.BYTES);
    long a = UnsafeApi.getLong(from, fromAt);
    long b = UnsafeApi.getLong(from, fromAt + second);
    long c = UnsafeApi.getLong(from, fromAt + third);
    long d = UnsafeApi.getLong(from, fromAt + last);
    UnsafeApi.putLong(to, toAt, a);
    UnsafeApi.putLong(to, toAt + second, b);
    UnsafeApi.putLong(to, toAt + third, c);
    UnsafeApi.putLong(to, toAt + last, d);
  }

  /// Copies aligned words.
  public static void copyToArray(long from, long[] to, int index, int count) {
    MemorySegment.copy(MEMORY, LONG, from, to, index, count);
  }

  public static void copyFromArray(long[] from, int index, long to, int count) {
    MemorySegment.copy(from, index, MEMORY, LONG, to, count);
  }

  public static void zero(long address, long bytes) {
    MEMORY.asSlice(address, bytes).fill((byte) 0);
  }

  /// Whether two ranges hold the same bytes.
  public static boolean equalBytes(long a, long b, long bytes) {
    return MemorySegment.mismatch(MEMORY, a, a + bytes, MEMORY, b, b + bytes) < 0;
  }
}
