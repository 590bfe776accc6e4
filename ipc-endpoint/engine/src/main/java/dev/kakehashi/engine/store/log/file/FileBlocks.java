package dev.kakehashi.engine.store.log.file;

import dev.kakehashi.os.Errno;
import dev.kakehashi.os.LibC;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// Blocks of files, which Java makes only by writing them.
final class FileBlocks {
  private static final int O_RDWR = 2;
  private static final int O_CLOEXEC = 0x80000;

  private static final MethodHandle OPEN =
      LibC.function(
          "open",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
  private static final MethodHandle CLOSE =
      LibC.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  private static final MethodHandle POSIX_FALLOCATE =
      LibC.function(
          "posix_fallocate",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG));

  private FileBlocks() {}

  /// Gives a file, which is there, blocks for its first `bytes`: a later write there does not meet a full disk. It is at least so long
  /// afterwards. A file system that has no such call gets a byte written into each block (by the C library).
  static void allocate(Path file, long bytes) throws IOException {
    int error;
    try (Arena arena = Arena.ofConfined()) {
      int descriptor =
          (int) OPEN.invokeExact(arena.allocateFrom(file.toString()), O_RDWR | O_CLOEXEC);
      if (descriptor < 0) {
        throw new IOException("could not open \"" + file + "\"");
      }
      try {
        error = (int) POSIX_FALLOCATE.invokeExact(descriptor, 0L, bytes);
      } finally {
        int ignored = (int) CLOSE.invokeExact(descriptor);
      }
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("posix_fallocate cannot be called", e);
    }
    if (error != 0) {
      throw new IOException(reason(error));
    }
  }

  private static String reason(int error) {
    return switch (error) {
      case Errno.ENOSPC, Errno.EDQUOT, Errno.EIO, Errno.EROFS -> Errno.reason(error);
      default -> "could not allocate blocks: error " + error;
    };
  }
}
