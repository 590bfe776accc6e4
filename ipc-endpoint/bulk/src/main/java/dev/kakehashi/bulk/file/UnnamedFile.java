package dev.kakehashi.bulk.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A file without a name, which ends with its process. Thread-safe; closed by its owner.
public final class UnnamedFile implements AutoCloseable {
  private static final int MODE = 0b110_000_000;

  private final FileChannel channel;
  private final String location;
  private long length; // guarded by this

  private UnnamedFile(FileChannel channel, String location) {
    this.channel = channel;
    this.location = location;
  }

  static UnnamedFile create(OpenDirectory directory, String temporaryName, String location) {
    int descriptor = directory.create(temporaryName, MODE);
    if (descriptor < 0) {
      throw FileFailure.of("could not write to location", location, descriptor);
    }
    try {
      FileChannel channel =
          FileChannel.open(
              Path.of("/proc/self/fd/" + descriptor),
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      return new UnnamedFile(channel, location);
    } catch (IOException e) {
      throw FileFailure.of("could not write to location", location, e);
    } finally {
      directory.unlink(temporaryName);
      FileCalls.close(descriptor);
    }
  }

  /// Appends bytes.
  ///
  /// @return where they are
  public synchronized long append(byte[] bytes, int count) {
    long at = length;
    try {
      ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, count);
      while (buffer.hasRemaining()) {
        length += channel.write(buffer, length);
      }
    } catch (IOException e) {
      throw FileFailure.of("could not write to location", location, e);
    }
    return at;
  }

  /// Fills an array.
  public void read(long at, byte[] into) {
    try {
      ByteBuffer buffer = ByteBuffer.wrap(into);
      while (buffer.hasRemaining()) {
        if (channel.read(buffer, at + buffer.position()) < 0) {
          throw new IOException("the file has become shorter");
        }
      }
    } catch (IOException e) {
      throw FileFailure.of("could not read from location", location, e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw FileFailure.of("could not close a file of location", location, e);
    }
  }
}
