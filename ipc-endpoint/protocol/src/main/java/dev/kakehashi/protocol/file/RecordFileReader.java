package dev.kakehashi.protocol.file;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Reads a file of records from its beginning, as far as it is when it is opened. One thread.
///
/// [#next] ends at the first bytes that are no whole record. [#end] says what they mean, and [#resume] goes on behind them.
public final class RecordFileReader implements AutoCloseable {
  private static final int WINDOW_BYTES = 1 << 14;

  /// Meaning of the place where whole records end.
  public enum End {
    /// The file ends there.
    WHOLE,
    /// A write that a crash has cut off, and nothing behind it. Damage to the very last record looks the same.
    CUT_OFF,
    /// There are whole records behind, all of the same write: power loss has torn it, or it is damaged.
    TORN,
    /// Records are missing that were durable.
    DAMAGED
  }

  private final RandomAccessFile file;
  private final RecordKind kind;
  private final long size;
  private final @Nullable RecordFormat format;
  private long position;
  private boolean isHeaderBroken;

  private final byte[] window = new byte[WINDOW_BYTES];
  private long windowStart;
  private int windowBytes;

  private RecordFileReader(Path path, RecordKind kind, RandomAccessFile file) throws IOException {
    this.file = file;
    this.kind = kind;
    this.size = file.length();
    byte[] header = new byte[(int) Math.min(size, RecordFormat.HEADER_BYTES)];
    read(header, 0);
    if (header.length < RecordFormat.HEADER_BYTES) {
      if (!RecordFormat.mayBegin(header)) {
        throw RecordFileException.foreign(path, kind);
      }
      format = null;
      return;
    }
    RecordFormat found = RecordFormat.read(header, kind, path);
    format = found;
    isHeaderBroken = !found.isSound();
    position = RecordFormat.HEADER_BYTES;
  }

  /// Opens a file. One that a crash has cut off within its header has no records.
  ///
  /// @throws NoSuchFileException there is none
  /// @throws RecordFileException it is no file of this kind, or of a newer version
  public static RecordFileReader open(Path path, RecordKind kind) throws IOException {
    if (Files.notExists(path)) {
      throw new NoSuchFileException(path.toString());
    }
    RandomAccessFile file = new RandomAccessFile(path.toFile(), "r");
    boolean isOpen = false;
    try {
      RecordFileReader reader = new RecordFileReader(path, kind, file);
      isOpen = true;
      return reader;
    } finally {
      if (!isOpen) {
        file.close();
      }
    }
  }

  /// The next record.
  ///
  /// @return null: there is no whole one at this place
  public byte @Nullable [] next() throws IOException {
    RecordFormat.Frame frame = isHeaderBroken ? null : frame(position);
    if (frame == null) {
      return null;
    }
    position += frame.bytes();
    return frame.content();
  }

  /// Where the record begins that is next; what is written behind the last one begins there.
  public long position() {
    return position;
  }

  /// Meaning of this place, after [#next] has found nothing. Reads the file up to its end.
  public End end() throws IOException {
    RecordFormat known = format;
    if (known == null) {
      return size == 0 ? End.WHOLE : End.CUT_OFF;
    }
    if (isHeaderBroken || position < known.wholeBytes()) {
      return End.DAMAGED;
    }
    if (position == size) {
      return End.WHOLE;
    }
    End end = End.CUT_OFF;
    for (long at = frameBehind(position); at >= 0; at = frameBehind(at)) {
      if (intAt(at) == RecordFormat.AFTER_FORCE) {
        return End.DAMAGED;
      }
      end = End.TORN;
    }
    return end;
  }

  /// Goes on with the next whole record behind broken bytes.
  ///
  /// @return false: there is none
  public boolean resume() throws IOException {
    if (format == null) {
      return false;
    }
    if (isHeaderBroken) {
      isHeaderBroken = false;
      if (frame(position) != null) {
        return true;
      }
    }
    long at = frameBehind(position);
    if (at < 0) {
      return false;
    }
    position = at;
    return true;
  }

  /// Place of the first whole frame behind a place; -1: there is none.
  private long frameBehind(long place) throws IOException {
    long from = place + RecordFormat.ALIGNMENT;
    for (long at = from; at + RecordFormat.FRAME_BYTES <= size; at += RecordFormat.ALIGNMENT) {
      if (RecordFormat.isMark(intAt(at)) && frame(at) != null) {
        return at;
      }
    }
    return -1;
  }

  private RecordFormat.@Nullable Frame frame(long at) throws IOException {
    RecordFormat known = format;
    if (known == null || at + RecordFormat.FRAME_BYTES > size) {
      return null;
    }
    int mark = intAt(at);
    int length = intAt(at + 4);
    if (!RecordFormat.isMark(mark)
        || length < 0
        || length > kind.maxRecordBytes()
        || RecordFormat.framedBytes(length) > size - at) {
      return null;
    }
    int checksum = intAt(at + 8);
    byte[] content = new byte[length];
    read(content, at + RecordFormat.FRAME_BYTES);
    return known.checksum(mark, content) == checksum ? new RecordFormat.Frame(mark, content) : null;
  }

  /// Four bytes that are in the file.
  private int intAt(long at) throws IOException {
    if (at < windowStart || at + Integer.BYTES > windowStart + windowBytes) {
      windowBytes = 0;
      int bytes = (int) Math.min(WINDOW_BYTES, size - at);
      fill(window, 0, bytes, at);
      windowStart = at;
      windowBytes = bytes;
    }
    return ByteBuffer.wrap(window).order(ByteOrder.LITTLE_ENDIAN).getInt((int) (at - windowStart));
  }

  private void read(byte[] into, long at) throws IOException {
    int have = 0;
    if (at >= windowStart && at < windowStart + windowBytes) {
      have = (int) Math.min(into.length, windowStart + windowBytes - at);
      System.arraycopy(window, (int) (at - windowStart), into, 0, have);
    }
    fill(into, have, into.length - have, at + have);
  }

  private void fill(byte[] into, int offset, int bytes, long at) throws IOException {
    if (bytes == 0) {
      return;
    }
    file.seek(at);
    try {
      file.readFully(into, offset, bytes);
    } catch (EOFException e) {
      throw new IOException(
          "the %s has become shorter while it is read".formatted(kind.title()), e);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
