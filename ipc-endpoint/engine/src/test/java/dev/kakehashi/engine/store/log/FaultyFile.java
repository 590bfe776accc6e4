package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.log.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A file on a disk that fails when it is told to: a full one writes a part before it does.
record FaultyFile(LogFile file, Disk disk) implements LogFile {
  /// Faults of the disk.
  static final class Disk {
    final AtomicReference<@Nullable String> writeError = new AtomicReference<>();
    final AtomicReference<@Nullable String> forceError = new AtomicReference<>();

    /// Bytes that have blocks can be written, and no others get blocks.
    final AtomicBoolean full = new AtomicBoolean();

    private final Thread owner = Thread.currentThread();

    /// Forces by the thread that has made this, not by threads that make segments in the background.
    final AtomicInteger forces = new AtomicInteger();

    LogFile open(Path path) throws IOException {
      return new FaultyFile(LogFile.open(path), this);
    }
  }

  @Override
  public void write(ByteBuffer bytes, long offset) throws IOException {
    String error = disk.writeError.get();
    if (error != null) {
      file.write(bytes.limit(bytes.position() + bytes.remaining() / 2), offset);
      throw new IOException(error);
    }
    refuseIfFull(offset + bytes.remaining());
    file.write(bytes, offset);
  }

  @Override
  public void read(ByteBuffer bytes, long offset) throws IOException {
    file.read(bytes, offset);
  }

  @Override
  public long size() throws IOException {
    return file.size();
  }

  @Override
  public void allocate(long bytes) throws IOException {
    String error = disk.writeError.get();
    if (error != null) {
      throw new IOException(error);
    }
    refuseIfFull(bytes);
    file.allocate(bytes);
  }

  private void refuseIfFull(long bytes) throws IOException {
    if (disk.full.get() && bytes > file.size()) {
      throw new IOException("No space left on device");
    }
  }

  @Override
  public void force() throws IOException {
    if (Thread.currentThread().equals(disk.owner)) {
      disk.forces.incrementAndGet();
    }
    String error = disk.forceError.get();
    if (error != null) {
      throw new IOException(error);
    }
    file.force();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
