package dev.kakehashi.bulk.file;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.os.Errno;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// An open file: regular, with one name, checked by its descriptor before it was opened for reading. Thread-safe; closed by its owner when
/// nobody reads.
public final class OpenedFile implements FileInput, AutoCloseable {
  /// Longest read at a time: the system copies what goes to the heap.
  private static final int PIECE_BYTES = 1 << 18;

  private final String name;
  private final int descriptor;
  private final FileChannel channel;
  private final FileStatus status;

  private OpenedFile(String name, int descriptor, FileChannel channel, FileStatus status) {
    this.name = name;
    this.descriptor = descriptor;
    this.channel = channel;
    this.status = status;
  }

  /// @param descriptor of O_PATH: nothing has been opened yet, so a device or a FIFO is left alone; this file's from now on
  static OpenedFile of(int descriptor, String name) {
    boolean done = false;
    try {
      FileStatus status = FileStatus.of(descriptor, name);
      check(status, name);
      // The link of /proc leads to the very file of the descriptor, whatever has become of its
      // name.
      FileChannel channel =
          FileChannel.open(Path.of("/proc/self/fd/" + descriptor), StandardOpenOption.READ);
      done = true;
      return new OpenedFile(name, descriptor, channel, status);
    } catch (java.nio.file.AccessDeniedException e) {
      throw new EngineException(
          ErrorCode.INSUFFICIENT_PRIVILEGE,
          "could not open file \"" + name + "\": Permission denied",
          e);
    } catch (IOException e) {
      throw FileFailure.of("could not open file", name, e);
    } finally {
      if (!done) {
        FileCalls.close(descriptor);
      }
    }
  }

  private static void check(FileStatus status, String name) {
    if (status.isLink()) {
      throw FileFailure.of("could not open file", name, -Errno.ELOOP);
    }
    if (status.isDirectory()) {
      throw new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + name + "\" is a directory")
          .withHint("Name its files by a pattern, as \"" + name + "/*.csv\".");
    }
    if (!status.isRegular()) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE, "\"" + name + "\" is not a regular file");
    }
    if (status.links() != 1) {
      throw new EngineException(
          ErrorCode.INSUFFICIENT_PRIVILEGE,
          "file \""
              + name
              + "\" has other names (hard links), which may be outside of the location");
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public long sizeBytes() {
    return status.size();
  }

  FileStatus status() {
    return status;
  }

  @Override
  public void read(long offset, MemorySegment into) {
    long size = into.byteSize();
    long done = 0;
    try {
      while (done < size) {
        ByteBuffer piece = into.asSlice(done, Math.min(PIECE_BYTES, size - done)).asByteBuffer();
        int read = channel.read(piece, offset + done);
        if (read < 0) {
          throw new EngineException(
              ErrorCode.BAD_COPY_FILE_FORMAT,
              "file \"%s\" ends at byte %d, where %d bytes more are expected"
                  .formatted(name, offset + done, size - done));
        }
        done += read;
      }
    } catch (IOException e) {
      throw FileFailure.of("could not read file", name, e);
    }
  }

  /// Whether nobody has written to it since it was opened.
  boolean isUnchanged() {
    return status.isUnchanged(FileStatus.of(descriptor, name));
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw FileFailure.of("could not close file", name, e);
    } finally {
      FileCalls.close(descriptor);
    }
  }
}
