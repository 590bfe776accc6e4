package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.NativeInput;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Gives copies of entries in buffers to a visitor. Confined to one thread.
final class BufferedEntries implements DurableLog.EntryVisitor {
  private final DurableLog.Visitor visitor;
  private final Copy key = new Copy(256);
  private final Copy value = new Copy(4 << 10);

  BufferedEntries(DurableLog.Visitor visitor) {
    this.visitor = visitor;
  }

  @Override
  public void entry(NativeInput keyBytes, NativeInput valueBytes) {
    visitor.entry(key.of(keyBytes), value.of(valueBytes));
  }

  private static final class Copy {
    private ByteBuffer buffer;
    private long address;

    Copy(int capacity) {
      buffer = ByteBuffer.allocateDirect(capacity);
      address = MemorySegment.ofBuffer(buffer).address();
    }

    ByteBuffer of(NativeInput from) {
      long bytes = from.remaining();
      if (bytes > buffer.capacity()) {
        buffer =
            ByteBuffer.allocateDirect(Math.toIntExact(Math.max(bytes, 2L * buffer.capacity())));
        address = MemorySegment.ofBuffer(buffer).address();
      }
      Native.copy(from.address(), address, bytes);
      return buffer.clear().limit((int) bytes);
    }
  }
}
