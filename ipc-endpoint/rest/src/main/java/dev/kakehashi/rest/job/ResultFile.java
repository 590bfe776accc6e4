package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file of a result while it is written. One thread at a time. Its opener publishes or discards it. Nobody sees its bytes before its job
/// has succeeded.
///
/// Failures of writes are EngineExceptions, DISK_FULL or IO_ERROR; the file is gone then.
public final class ResultFile extends OutputStream {
  private static final Logger LOG = LoggerFactory.getLogger(ResultFile.class);
  private static final int BUFFER_BYTES = 1 << 18;

  /// How it is named, and for whom it counts.
  ///
  /// @param progress told the bytes that were written, as they are
  record Origin(
      long id,
      String owner,
      String name,
      String mediaType,
      String coding,
      Path temporary,
      SpaceBudget budget,
      LongConsumer progress) {}

  private final Origin origin;
  private final RandomAccessFile out;
  private final MessageDigest digest = Sha256.begin();
  private byte @Nullable [] buffer = new byte[BUFFER_BYTES]; // null: it has ended
  private int buffered;
  private long written; // and reserved
  private long rows;
  private @Nullable JobFile published;

  /// @throws IOException if the file cannot be made
  ResultFile(Origin origin) throws IOException {
    this.origin = origin;
    this.out = new RandomAccessFile(origin.temporary().toFile(), "rw");
  }

  /// Counts rows that are in it.
  public void addRows(long more) {
    rows += more;
  }

  /// Bytes so far.
  public long bytes() {
    return written + buffered;
  }

  public long rows() {
    return rows;
  }

  @Override
  public void write(int b) {
    byte[] open = open();
    if (buffered == open.length) {
      drain();
    }
    open[buffered++] = (byte) b;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    byte[] open = open();
    if (length > open.length - buffered) {
      drain();
      if (length >= open.length) {
        writeOut(bytes, offset, length);
        return;
      }
    }
    System.arraycopy(bytes, offset, open, buffered, length);
    buffered += length;
  }

  /// Does nothing: what is buffered goes out when the buffer is full, or the file is published.
  @Override
  public void flush() {}

  private byte[] open() {
    byte[] open = buffer;
    if (open == null) {
      throw new IllegalStateException("the file has been published or discarded");
    }
    return open;
  }

  private void drain() {
    if (buffered > 0) {
      int length = buffered;
      buffered = 0;
      writeOut(open(), 0, length);
    }
  }

  private void writeOut(byte[] bytes, int offset, int length) {
    try {
      origin.budget().reserve(origin.owner(), length);
    } catch (EngineException e) {
      discard();
      throw e;
    }
    written += length;
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      discard();
      throw DiskFailure.of("could not write a file of a result", e);
    }
    digest.update(bytes, offset, length);
    origin.progress().accept(length);
  }

  /// Ends it; it is durable when this returns, and becomes visible with the success of its job.
  public void publish() {
    drain();
    open();
    try {
      out.getFD().sync();
      out.close();
    } catch (IOException e) {
      discard();
      throw DiskFailure.of("could not write a file of a result", e);
    }
    buffer = null;
    published =
        new JobFile(
            origin.id(),
            origin.name(),
            origin.mediaType(),
            origin.coding(),
            rows,
            written,
            HexFormat.of().formatHex(digest.digest()));
  }

  /// Takes it away. Does nothing if it has ended.
  public void discard() {
    if (buffer == null) {
      return;
    }
    buffer = null;
    buffered = 0;
    try {
      out.close();
      Files.deleteIfExists(origin.temporary());
    } catch (IOException e) {
      // The next start sweeps it; its bytes are there until then.
      LOG.warn("a file of a result could not be removed", e);
      return;
    }
    origin.budget().release(origin.owner(), written);
    written = 0;
  }

  /// Discards it unless it has been published.
  @Override
  public void close() {
    discard();
  }

  /// The published file; null: it has not been published.
  @Nullable JobFile published() {
    return published;
  }
}
