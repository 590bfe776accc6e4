package dev.kakehashi.engine.store.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Native memory that is read from the beginning to the end, without the checks and the state of a [ByteBuffer], which cost more than the
/// bytes of a short entry. The reader asks what remains before he reads: nothing is checked here. Confined to one thread at a time; the
/// memory is its owner's.
public final class NativeInput {
  private long start;
  private long at;
  private long end;

  /// Whose memory it is; keeps it, which is all that it is for.
  @SuppressWarnings("UnusedVariable")
  private @Nullable ByteBuffer memory;

  /// An input with the bytes that remain in a buffer, whose position stays. It has to be reachable until they have been read
  /// (`Reference.reachabilityFence`): an address keeps no buffer.
  public static NativeInput of(ByteBuffer bytes) {
    ByteBuffer direct =
        bytes.isDirect()
            ? bytes
            : ByteBuffer.allocateDirect(bytes.remaining()).put(bytes.duplicate()).flip();
    NativeInput input = new NativeInput();
    input.set(MemorySegment.ofBuffer(direct).address(), direct.remaining());
    input.memory = direct;
    return input;
  }

  /// Begins anew, with other bytes.
  public void set(long address, long bytes) {
    start = address;
    at = address;
    end = address + bytes;
  }

  /// Where the next byte is.
  public long address() {
    return at;
  }

  public long remaining() {
    return end - at;
  }

  /// The next 8 bytes as a number whose least significant byte comes first, without going beyond them; where fewer remain, zeros come last.
  public long peekLong() {
    long rest = end - at;
    if (rest >= Long.BYTES) {
      return Native.getLongUnaligned(at);
    }
    if (rest <= 0) {
      return 0;
    }
    if (end - start >= Long.BYTES) {
      return Native.getLongUnaligned(end - Long.BYTES) >>> (Long.SIZE - 8 * (int) rest);
    }
    long value = 0;
    for (long from = end - 1; from >= at; from--) {
      value = value << 8 | (Native.getByte(from) & 0xFF);
    }
    return value;
  }

  /// The next 4 bytes as they are.
  public int nextInt() {
    int value = Native.getInt(at);
    at += Integer.BYTES;
    return value;
  }

  /// The next 8 bytes as they are.
  public long nextLong() {
    long value = Native.getLongUnaligned(at);
    at += Long.BYTES;
    return value;
  }

  public void skip(long bytes) {
    at += bytes;
  }

  /// The 8 bytes from `offset` on, behind the next one, as a number whose most significant byte comes first.
  public long longAt(int offset) {
    return Long.reverseBytes(Native.getLongUnaligned(at + offset));
  }

  /// The remaining bytes, as an array.
  public byte[] toArray() {
    byte[] bytes = new byte[Math.toIntExact(remaining())];
    Native.copyToArray(at, bytes, 0, bytes.length);
    return bytes;
  }
}
