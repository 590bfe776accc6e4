package dev.kakehashi.transport.os;

import dev.kakehashi.os.Errno;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A file mapped whole into memory, with an explicit way to reserve and to give back parts of it.
///
/// A page of a sparse tmpfs file that cannot be allocated when it is touched is a SIGBUS. So a caller that is about to use a part calls
/// [#reserve] first. Thread-safe. [#close()] unmaps; nobody may use [#memory()] afterwards.
public final class MappedFile implements AutoCloseable {
  private static final int KEEP_SIZE = 1;
  private static final int PUNCH_HOLE = 2;

  private final Path path;
  private final int fd;
  private final Arena arena;
  private final MemorySegment memory;

  private MappedFile(Path path, int fd, Arena arena, MemorySegment memory) {
    this.path = path;
    this.fd = fd;
    this.arena = arena;
    this.memory = memory;
  }

  /// Makes a sparse file of `bytes` bytes, which must not exist, and maps it.
  ///
  /// @param mode permissions, independent of the umask
  public static MappedFile create(Path path, long bytes, int mode) {
    int fd =
        Linux.open(
            path.toString(), Linux.O_RDWR | Linux.O_CREAT | Linux.O_EXCL | Linux.O_CLOEXEC, mode);
    if (fd < 0) {
      throw failure("could not create", path, -fd);
    }
    int result = Linux.fchmod(fd, mode);
    if (result == 0) {
      result = Linux.ftruncate(fd, bytes);
    }
    if (result < 0) {
      Linux.close(fd);
      throw failure("could not size", path, -result);
    }
    return map(path, fd, 0, bytes, true);
  }

  /// Maps a part of an existing file for reading and writing.
  public static MappedFile open(Path path, long offset, long bytes) {
    int fd = Linux.open(path.toString(), Linux.O_RDWR | Linux.O_CLOEXEC, 0);
    if (fd < 0) {
      throw failure("could not open", path, -fd);
    }
    return map(path, fd, offset, bytes, true);
  }

  private static MappedFile map(Path path, int fd, long offset, long bytes, boolean writable) {
    Arena arena = Arena.ofShared();
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment memory =
          channel.map(
              writable ? FileChannel.MapMode.READ_WRITE : FileChannel.MapMode.READ_ONLY,
              offset,
              bytes,
              arena);
      return new MappedFile(path, fd, arena, memory);
    } catch (IOException e) {
      Linux.close(fd);
      arena.close();
      throw new TransportException(
          ErrorCode.INTERNAL_ERROR, "could not map \"" + path + "\": " + e.getMessage(), e);
    }
  }

  public MemorySegment memory() {
    return memory;
  }

  public Path path() {
    return path;
  }

  /// Allocates the memory of a part, so that touching it cannot fail.
  ///
  /// @throws TransportException DISK_FULL when the file system has no room
  public void reserve(long offset, long bytes) {
    int result = Linux.fallocate(fd, KEEP_SIZE, offset, bytes);
    if (result < 0) {
      throw failure("could not reserve " + bytes + " bytes of", path, -result);
    }
  }

  /// Gives the memory of a part back; it reads as zeros afterwards.
  public void punch(long offset, long bytes) {
    int result = Linux.fallocate(fd, PUNCH_HOLE | KEEP_SIZE, offset, bytes);
    if (result < 0) {
      throw failure("could not give back " + bytes + " bytes of", path, -result);
    }
  }

  @Override
  public void close() {
    arena.close();
    Linux.close(fd);
  }

  private static TransportException failure(String action, Path path, int errno) {
    if (errno == Errno.ENOSPC) {
      return new TransportException(
          ErrorCode.DISK_FULL,
          action + " \"" + path.getFileName() + "\": no space left on shared memory file system",
          "",
          "Make the file system of the runtime directory larger, or lower the endpoint's limits.",
          null);
    }
    return new TransportException(
        ErrorCode.INTERNAL_ERROR, action + " \"" + path + "\": errno " + errno);
  }
}
