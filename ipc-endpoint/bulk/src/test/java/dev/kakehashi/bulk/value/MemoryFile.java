package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// A file in memory, first written, then read.
public final class MemoryFile implements FileInput, FileOutput {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private byte[] bytes;

  public MemoryFile() {
    this(new byte[0]);
  }

  public MemoryFile(byte[] bytes) {
    this.bytes = bytes;
  }

  /// Bytes that have been written, or were there.
  public byte[] bytes() {
    if (out.size() > 0) {
      bytes = out.toByteArray();
    }
    return bytes;
  }

  @Override
  public String name() {
    return "memory:file";
  }

  @Override
  public long sizeBytes() {
    return bytes().length;
  }

  @Override
  public void read(long offset, MemorySegment into) {
    if (offset < 0 || into.byteSize() > bytes.length - offset) {
      throw new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "file ends before");
    }
    MemorySegment.copy(MemorySegment.ofArray(bytes), offset, into, 0, into.byteSize());
  }

  @Override
  public void write(byte[] from, int start, int count) {
    out.write(from, start, count);
  }

  @Override
  public void write(ByteBuffer from) {
    byte[] copy = new byte[from.remaining()];
    from.get(copy);
    out.write(copy, 0, copy.length);
  }

  @Override
  public long position() {
    return out.size();
  }
}
