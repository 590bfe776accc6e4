package dev.kakehashi.applications.link;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// The file with the lanes of one process, mapped whole. [#lane] is thread-safe. It is closed after every thread that uses a lane has
/// ended.
///
/// Memory of a lane is reserved before it is used, because a page that a full tmpfs cannot give is a SIGBUS.
public final class LinkMemory implements AutoCloseable {
  /// Lanes of a file.
  public static final int LANES = 512;

  private final FileChannel channel;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;

  private LinkMemory(FileChannel channel) throws IOException {
    this.channel = channel;
    this.memory =
        channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) LANES * LinkLane.BYTES, arena);
  }

  /// Makes a file, which must not exist, for its owner alone.
  public static LinkMemory create(Path file) throws IOException {
    return open(
        FileChannel.open(
            file,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))));
  }

  public static LinkMemory open(Path file) throws IOException {
    return open(FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  private static LinkMemory open(FileChannel channel) throws IOException {
    try {
      return new LinkMemory(channel);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /// Reserves the memory of a lane, which is all zeros then: the turn is the endpoint's.
  ///
  /// @throws IOException the file system is full
  public void reserve(int lane) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocate(LinkLane.BYTES);
    long offset = (long) lane * LinkLane.BYTES;
    while (zeros.hasRemaining()) {
      channel.write(zeros, offset + zeros.position());
    }
  }

  /// @param lane a reserved one
  /// @param side whose end it is
  public LinkLane lane(int lane, LinkLane.Side side) {
    return new LinkLane(memory.asSlice((long) lane * LinkLane.BYTES, LinkLane.BYTES), lane, side);
  }

  @Override
  public void close() {
    arena.close();
    try {
      channel.close();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
