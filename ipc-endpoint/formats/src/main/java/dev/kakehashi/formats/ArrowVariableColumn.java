package dev.kakehashi.formats;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Values of any length: offsets, then bytes.
final class ArrowVariableColumn extends ArrowColumn {
  /// Appends to the bytes.
  private final class Sink extends OutputStream {
    @Override
    public void write(int value) {
      data = grown(data, (long) length + 1);
      data[length++] = (byte) value;
    }

    @Override
    public void write(byte[] bytes, int from, int count) {
      data = grown(data, (long) length + count);
      System.arraycopy(bytes, from, data, length, count);
      length += count;
    }
  }

  /// Up to so many bytes are copied eight at a time.
  private static final int SHORT_BYTES = 48;

  private final ValueForm source;

  /// Whether the values are no bytes, but are written as text.
  private final boolean written;

  private final Output text = new Output(new Sink());
  private byte[] offsets = new byte[64];
  private byte[] data = new byte[1 << 10];
  private int length;

  ArrowVariableColumn(ArrowField field) {
    this.source = ValueForm.of(field.typeOid());
    this.written =
        switch (source) {
          case TEXT, JSON, ARRAY -> false;
          default -> source != ValueForm.BYTEA || field.form() == ValueForm.TEXT;
        };
  }

  @Override
  void reserve(int total) {
    offsets = grown(offsets, 4L * (total + 1));
  }

  @Override
  void putAll(BatchView view, int column, int from, int to, boolean anyNull) throws IOException {
    MemorySegment memory = view.memory();
    int stride = view.stride();
    long wordAt = view.wordAt(view.rowAt(from), column);
    for (int row = rows; row < rows + to - from; row++) {
      if (!anyNull || isPresent(row)) {
        put(view, memory.get(BatchView.I64, wordAt));
      }
      INTS.set(offsets, 4 * (row + 1), length);
      wordAt += stride;
    }
  }

  private void put(BatchView view, long word) throws IOException {
    if (written) {
      PlainText.put(text, source, view, word);
      text.drain();
      return;
    }
    long from = view.payloadAt(word);
    int count = view.payloadBytes(word);
    data = grown(data, (long) length + count + Long.BYTES);
    MemorySegment memory = view.memory();
    if (count <= SHORT_BYTES && from + SHORT_BYTES <= view.batchBytes()) {
      // Bytes that are copied beyond the value are overwritten by the next one.
      for (int i = 0; i < count; i += Long.BYTES) {
        LONGS.set(data, length + i, memory.get(BatchView.I64, from + i));
      }
    } else {
      MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, data, length, count);
    }
    length += count;
  }

  @Override
  void values(Buffers buffers) {
    buffers.buffer(offsets, 4 * (rows + 1));
    buffers.buffer(data, length);
  }

  @Override
  public void reset() {
    length = 0;
    text.at = 0;
    super.reset();
  }
}
