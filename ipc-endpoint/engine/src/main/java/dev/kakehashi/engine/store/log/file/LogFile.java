package dev.kakehashi.engine.store.log.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A file of the log. The seam at which tests let a disk fail.
///
/// Used by one thread at a time.
public interface LogFile extends AutoCloseable {
  /// Opens files; makes them when they do not exist.
  interface Opener {
    LogFile open(Path path) throws IOException;
  }

  /// Writes all that remains of `bytes` at `offset`.
  void write(ByteBuffer bytes, long offset) throws IOException;

  /// Fills `bytes` from `offset`, as far as the file reaches.
  void read(ByteBuffer bytes, long offset) throws IOException;

  long size() throws IOException;

  /// Gives the file blocks for its first `bytes`, and at least that length: writes there do not meet a full disk.
  void allocate(long bytes) throws IOException;

  /// Returns when the content survives power loss (fdatasync).
  void force() throws IOException;

  @Override
  void close() throws IOException;

  /// A file of the file system.
  static LogFile open(Path path) throws IOException {
    return new Channel(
        path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /// A file that has to be there and is not changed.
  static LogFile openReadOnly(Path path) throws IOException {
    return new Channel(path, StandardOpenOption.READ);
  }

  /// Java closes a channel when a thread is interrupted that uses it. The log outlives that: it opens the file again, does what it was
  /// asked for, and leaves the interrupt to those who wait for it.
  final class Channel implements LogFile {
    private final Path path;
    private final OpenOption[] options;
    private FileChannel channel;

    private interface Operation {
      void run(FileChannel channel) throws IOException;
    }

    private Channel(Path path, OpenOption... options) throws IOException {
      this.path = path;
      this.options = options;
      this.channel = open();
    }

    private FileChannel open() throws IOException {
      return FileChannel.open(path, options);
    }

    private void uninterrupted(Operation operation) throws IOException {
      boolean interrupted = false;
      try {
        while (true) {
          try {
            operation.run(channel);
            return;
          } catch (ClosedByInterruptException e) {
            interrupted |= Thread.interrupted();
            channel = open();
          }
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    @Override
    public void write(ByteBuffer bytes, long offset) throws IOException {
      int start = bytes.position();
      uninterrupted(to -> {
        bytes.position(start);
        long at = offset;
        while (bytes.hasRemaining()) {
          at += to.write(bytes, at);
        }
      });
    }

    @Override
    public void read(ByteBuffer bytes, long offset) throws IOException {
      int start = bytes.position();
      uninterrupted(from -> {
        bytes.position(start);
        long at = offset;
        while (bytes.hasRemaining()) {
          int count = from.read(bytes, at);
          if (count < 0) {
            return;
          }
          at += count;
        }
      });
    }

    @Override
    public long size() throws IOException {
      long[] size = new long[1];
      uninterrupted(of -> size[0] = of.size());
      return size[0];
    }

    @Override
    public void allocate(long bytes) throws IOException {
      FileBlocks.allocate(path, bytes);
    }

    @Override
    public void force() throws IOException {
      uninterrupted(what -> what.force(false));
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
