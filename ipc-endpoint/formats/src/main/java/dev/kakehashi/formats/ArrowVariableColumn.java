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

  private final boolean numeric;
  private final Output text = new Output(new Sink());
  private byte[] offsets = new byte[64];
  private byte[] data = new byte[1 << 10];
  private int length;

  ArrowVariableColumn(ArrowField field) {
    this.numeric = field.form() == ValueForm.NUMERIC;
  }

  @Override
  void reserve(int total) {
    offsets = grown(offsets, 4L * (total + 1));
  }

  @Override
  void put(BatchView view, long word) throws IOException {
    long from = view.payloadAt(word);
    int count = view.payloadBytes(word);
    if (numeric) {
      NumberText.putNumeric(text, view.memory(), from, count);
      text.drain();
    } else {
      data = grown(data, (long) length + count);
      MemorySegment.copy(view.memory(), ValueLayout.JAVA_BYTE, from, data, length, count);
      length += count;
    }
    INTS.set(offsets, 4 * (rows + 1), length);
  }

  @Override
  void putNull() {
    INTS.set(offsets, 4 * (rows + 1), length);
  }

  @Override
  void values(Buffers buffers) {
    buffers.buffer(offsets, 4 * (rows + 1));
    buffers.buffer(data, length);
  }

  @Override
  void reset() {
    length = 0;
    text.at = 0;
    super.reset();
  }
}
