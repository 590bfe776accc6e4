package dev.kakehashi.transport.os;

import dev.kakehashi.os.Errno;
import java.io.IOException;
import java.nio.file.Path;

/// An open file of somebody else's whose space is reserved or given back; not mapped here.
public final class SparseFile implements AutoCloseable {
  private final Path path;
  private final int fd;

  private SparseFile(Path path, int fd) {
    this.path = path;
    this.fd = fd;
  }

  public static SparseFile open(Path path) throws IOException {
    int fd = Linux.open(path.toString(), Linux.O_RDWR | Linux.O_CLOEXEC, 0);
    if (fd < 0) {
      throw new IOException("could not open \"" + path + "\": errno " + -fd);
    }
    return new SparseFile(path, fd);
  }

  /// Allocates memory for a part without changing the length of the file. False when there is no space.
  public boolean reserve(long offset, long bytes) throws IOException {
    int result = Linux.fallocate(fd, 1, offset, bytes);
    if (result < 0 && result != -Errno.ENOSPC) {
      throw new IOException("could not reserve space of \"" + path + "\": errno " + -result);
    }
    return result == 0;
  }

  /// Gives a part back; it reads as zeros afterwards.
  public void punch(long offset, long bytes) throws IOException {
    int result = Linux.fallocate(fd, 3, offset, bytes);
    if (result < 0) {
      throw new IOException("could not punch \"" + path + "\": errno " + -result);
    }
  }

  @Override
  public void close() {
    Linux.close(fd);
  }
}
