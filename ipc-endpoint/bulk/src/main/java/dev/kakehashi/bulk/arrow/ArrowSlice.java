package dev.kakehashi.bulk.arrow;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// A buffer of a record batch within an array. Immutable.
record ArrowSlice(byte[] bytes, int start, int length) {
  static final ArrowSlice EMPTY = new ArrowSlice(new byte[0], 0, 0);

  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  static int i16(byte[] bytes, int at) {
    return (short) SHORTS.get(bytes, at);
  }

  static int i32(byte[] bytes, int at) {
    return (int) INTS.get(bytes, at);
  }

  static long i64(byte[] bytes, int at) {
    return (long) LONGS.get(bytes, at);
  }

  static void putI32(byte[] bytes, int at, int value) {
    INTS.set(bytes, at, value);
  }

  static void putI64(byte[] bytes, int at, long value) {
    LONGS.set(bytes, at, value);
  }
}
