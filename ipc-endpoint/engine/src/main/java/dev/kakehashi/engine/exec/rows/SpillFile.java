package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/// Rows in a temporary file: written by one task, then read by any number, each with a [Reader] of its own.
///
/// A row is its length (8 bytes), a word of null bits per 64 columns, and per column that is not null its word, or its value padded to 8
/// bytes. So a row that was read can be used where it lies: every value begins at a multiple of 8.
public final class SpillFile implements AutoCloseable {
  private final TempSpace space;
  private final ColumnKind[] kinds;
  private final int bufferBytes;
  private final PlanProfile.@Nullable Node profile;
  private final int nullBytes;

  /// Null as long as nothing has been written.
  private @Nullable FileChannel channel;

  private @Nullable ByteBuffer buffer;
  private long bytes;
  private long rows;
  private boolean closed;

  /// @param bufferBytes of a writer or reader; a longer row has a larger one
  /// @param profile gets what is written; null: nothing is measured
  SpillFile(
      TempSpace space, ColumnKind[] kinds, int bufferBytes, PlanProfile.@Nullable Node profile) {
    this.profile = profile;
    this.space = space;
    this.kinds = kinds;
    this.bufferBytes = bufferBytes;
    this.nullBytes = ((kinds.length + 63) >>> 6) * 8;
  }

  private static ByteBuffer allocate(int capacity) {
    // Direct memory begins at a page or at a multiple of 16.
    return ByteBuffer.allocateDirect(capacity).order(ByteOrder.nativeOrder());
  }

  public long rows() {
    return rows;
  }

  /// Where the next row begins.
  public long end() {
    ByteBuffer present = buffer;
    return present == null ? bytes : bytes + present.position();
  }

  /// Bytes of all rows.
  public long bytes() {
    return bytes;
  }

  public ColumnKind[] kinds() {
    return kinds;
  }

  private static int aligned(int length) {
    return (length + 7) & ~7;
  }

  /// Appends a row that lies in vectors.
  public void append(ColumnVector[] columns, int row) {
    int length = 8 + nullBytes;
    for (int c = 0; c < kinds.length; c++) {
      length += columns[c].isNull(row) ? 0 : valueBytes(c, columns[c].words[row]);
    }
    if (length > Interrupts.LONG_BYTES) {
      Interrupts.check();
    }
    ByteBuffer to = room(length);
    int start = to.position();
    to.putLong(length);
    for (int at = 0; at < nullBytes; at += 8) {
      to.putLong(0);
    }
    for (int c = 0; c < kinds.length; c++) {
      if (columns[c].isNull(row)) {
        int at = start + 8 + 8 * (c >>> 6);
        to.putLong(at, to.getLong(at) | 1L << (c & 63));
      } else {
        putValue(to, c, columns[c].words[row]);
      }
    }
    rows++;
  }

  private int valueBytes(int column, long word) {
    return kinds[column].byReference()
        ? aligned(MaterializedRows.valueBytes(kinds[column], word))
        : 8;
  }

  private void putValue(ByteBuffer to, int column, long word) {
    if (!kinds[column].byReference()) {
      to.putLong(word);
      return;
    }
    int length = MaterializedRows.valueBytes(kinds[column], word);
    MemorySegment.copy(VarHeap.MEMORY, word, MemorySegment.ofBuffer(to), 0, length);
    to.position(to.position() + aligned(length));
  }

  private ByteBuffer room(int length) {
    ByteBuffer present = buffer;
    if (present == null) {
      present = allocate(Math.max(bufferBytes, length));
      buffer = present;
    } else if (present.remaining() < length) {
      write(present);
      if (present.capacity() < length) {
        present = allocate(length);
        buffer = present;
      }
    }
    return present;
  }

  private void write(ByteBuffer from) {
    from.flip();
    space.reserve(from.remaining());
    if (profile != null) {
      profile.spilled.add(from.remaining());
      if (bytes == 0) {
        profile.files.increment();
      }
    }
    FileChannel to = channel;
    if (to == null) {
      to = space.create();
      channel = to;
    }
    long at = bytes;
    bytes += from.remaining();
    try {
      while (from.hasRemaining()) {
        at += to.write(from, at);
      }
    } catch (IOException e) {
      throw space.failure("could not write a temporary file", e);
    }
    from.clear();
  }

  /// Writes what is left of the rows; no more follow.
  public void finish() {
    ByteBuffer present = buffer;
    if (present != null) {
      write(present);
      buffer = null;
    }
  }

  public Reader reader() {
    return reader(0);
  }

  /// @param from where a row begins, see [#end()]
  Reader reader(long from) {
    return new Reader(from, bufferBytes);
  }

  /// One with a buffer of its own size.
  public Reader readerWith(int buffer) {
    return new Reader(0, buffer);
  }

  /// Gives the space back. Idempotent.
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      buffer = null;
      space.release(bytes);
      try {
        if (channel != null) {
          channel.close();
        }
      } catch (IOException e) {
        throw space.failure("could not remove a temporary file", e);
      }
    }
  }

  /// Reads the rows in their order. Confined to one task at a time.
  public final class Reader {
    private ByteBuffer block;
    private long address;
    private long readAt;
    private final long[] words = new long[kinds.length];
    private final boolean[] nulls = new boolean[kinds.length];

    private Reader(long from, int buffer) {
      readAt = from;
      block = allocate(buffer).limit(0);
      address = MemorySegment.ofBuffer(block.duplicate().clear()).address();
    }

    /// Goes to the next row; false if there is none. Values of the row before are gone then.
    public boolean next() {
      if (block.remaining() < 8 && !fill(8)) {
        return false;
      }
      int length = (int) block.getLong(block.position());
      if (block.remaining() < length && !fill(length)) {
        throw space.failure(
            "could not read a temporary file", new IOException("it ends within a row"));
      }
      int start = block.position();
      int at = start + 8 + nullBytes;
      for (int c = 0; c < kinds.length; c++) {
        nulls[c] = (block.getLong(start + 8 + 8 * (c >>> 6)) >>> (c & 63) & 1) != 0;
        if (nulls[c]) {
          words[c] = 0;
        } else if (kinds[c].byReference()) {
          words[c] = address + at;
          at += aligned(MaterializedRows.valueBytes(kinds[c], words[c]));
        } else {
          words[c] = block.getLong(at);
          at += 8;
        }
      }
      block.position(start + length);
      return true;
    }

    /// Goes before the row that begins at a position of the file, see [SpillFile#end()].
    public void seek(long position) {
      long begin = readAt - block.limit();
      if (position >= begin && position <= readAt) {
        block.position((int) (position - begin));
      } else {
        block.clear().limit(0);
        readAt = position;
      }
    }

    /// Where the next row begins.
    public long position() {
      return readAt - block.remaining();
    }

    /// Brings at least `needed` bytes into the block; false at the end of the file.
    private boolean fill(int needed) {
      if (block.capacity() < needed) {
        ByteBuffer larger = allocate(needed);
        larger.put(block).flip();
        block = larger;
        address = MemorySegment.ofBuffer(block.duplicate().clear()).address();
      }
      block.compact();
      FileChannel from = channel;
      try {
        while (from != null && block.position() < needed && readAt < bytes) {
          int count = from.read(block, readAt);
          if (count < 0) {
            break;
          }
          readAt += count;
        }
      } catch (IOException e) {
        throw space.failure("could not read a temporary file", e);
      }
      block.flip();
      return block.remaining() >= needed;
    }

    public long word(int column) {
      return words[column];
    }

    public boolean isNull(int column) {
      return nulls[column];
    }

    /// Copies the row, with its values, into row `outRow` of a batch.
    public void read(VectorBatch out, int outRow, int columns) {
      for (int c = 0; c < columns; c++) {
        if (nulls[c]) {
          out.columns[c].setNull(outRow);
        } else {
          out.columns[c].words[outRow] = MaterializedRows.copied(out.heap, kinds[c], words[c]);
        }
      }
    }

    /// Fills a batch with the next rows, as many as it has room for; false if there are none.
    public boolean fill(VectorBatch out) {
      out.reset();
      while (out.hasRoom() && next()) {
        read(out, out.size++, kinds.length);
      }
      return out.size > 0;
    }

    /// Fills a batch with at most `most` rows.
    boolean fill(VectorBatch out, int most) {
      out.reset();
      while (out.size < most && next()) {
        read(out, out.size++, kinds.length);
      }
      return out.size > 0;
    }
  }
}
