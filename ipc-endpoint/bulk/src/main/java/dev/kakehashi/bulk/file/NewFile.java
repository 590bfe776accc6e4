package dev.kakehashi.bulk.file;

import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.engine.api.bulk.BulkContext;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A file that is written from its beginning to its end, under a temporary name, and its digest. Used by one thread at a time; closed by
/// its writer, published or removed by its [FilePublication].
public final class NewFile implements FileOutput, AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 18;
  private static final int MODE = 0b110_100_000;

  private final LocationPath path;
  private final String temporaryName;
  private final FileChannel channel;
  private final MessageDigest digest;
  private final BulkContext context;
  private final Arena arena;
  private final ByteBuffer buffer;
  private long written;
  private boolean isOpen = true;
  private @Nullable String digestText;

  private NewFile(
      LocationPath path, String temporaryName, FileChannel channel, BulkContext context) {
    this.path = path;
    this.temporaryName = temporaryName;
    this.channel = channel;
    this.context = context;
    digest = sha256();
    arena = Arena.ofShared();
    buffer = arena.allocate(BUFFER_BYTES).asByteBuffer();
  }

  /// A new digest.
  public static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }

  static NewFile create(
      OpenDirectory directory, LocationPath path, String temporaryName, BulkContext context) {
    context.reserveMemory(BUFFER_BYTES);
    boolean done = false;
    try {
      int descriptor = directory.create(temporaryName, MODE);
      if (descriptor < 0) {
        throw FileFailure.of("could not make file", path.toString(), descriptor);
      }
      try {
        // Whatever the umask.
        int changed = FileCalls.chmod(descriptor, MODE);
        if (changed < 0) {
          throw FileFailure.of("could not make file", path.toString(), changed);
        }
        FileChannel channel =
            FileChannel.open(Path.of("/proc/self/fd/" + descriptor), StandardOpenOption.WRITE);
        NewFile file = new NewFile(path, temporaryName, channel, context);
        done = true;
        return file;
      } catch (IOException e) {
        throw FileFailure.of("could not make file", path.toString(), e);
      } finally {
        FileCalls.close(descriptor);
        if (!done) {
          directory.unlink(temporaryName);
        }
      }
    } finally {
      if (!done) {
        context.releaseMemory(BUFFER_BYTES);
      }
    }
  }

  public LocationPath path() {
    return path;
  }

  String temporaryName() {
    return temporaryName;
  }

  List<String> directory() {
    return path.directory();
  }

  @Override
  public void write(byte[] bytes, int from, int count) {
    digest.update(bytes, from, count);
    int at = from;
    int end = from + count;
    while (at < end) {
      int piece = Math.min(end - at, buffer.remaining());
      buffer.put(bytes, at, piece);
      at += piece;
      if (!buffer.hasRemaining()) {
        drain();
      }
    }
  }

  @Override
  public void write(ByteBuffer bytes) {
    digest.update(bytes.duplicate());
    if (bytes.isDirect() && bytes.remaining() >= BUFFER_BYTES) {
      drain();
      put(bytes);
      return;
    }
    while (bytes.hasRemaining()) {
      int piece = Math.min(bytes.remaining(), buffer.remaining());
      buffer.put(bytes.slice(bytes.position(), piece));
      bytes.position(bytes.position() + piece);
      if (!buffer.hasRemaining()) {
        drain();
      }
    }
  }

  private void drain() {
    buffer.flip();
    put(buffer);
    buffer.clear();
  }

  private void put(ByteBuffer bytes) {
    context.checkCanceled();
    try {
      while (bytes.hasRemaining()) {
        written += channel.write(bytes);
      }
    } catch (IOException e) {
      throw FileFailure.of("could not write file", path.toString(), e);
    }
  }

  @Override
  public long position() {
    return written + (isOpen ? buffer.position() : 0);
  }

  /// Returns when the file survives power loss, under its temporary name; then closes it.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR
  public void end() {
    drain();
    try {
      channel.force(true);
    } catch (IOException e) {
      throw FileFailure.of("could not write file", path.toString(), e);
    }
    digestText = HexFormat.of().formatHex(digest.digest());
    close();
  }

  /// SHA-256 of a file that has ended, hexadecimal.
  public String digest() {
    if (digestText == null) {
      throw new IllegalStateException("the file has not ended");
    }
    return digestText;
  }

  boolean isEnded() {
    return digestText != null;
  }

  @Override
  public void close() {
    if (!isOpen) {
      return;
    }
    isOpen = false;
    arena.close();
    context.releaseMemory(BUFFER_BYTES);
    try {
      channel.close();
    } catch (IOException e) {
      throw FileFailure.of("could not close file", path.toString(), e);
    }
  }
}
