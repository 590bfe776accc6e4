package dev.kakehashi.formats;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.formats.ArrayCursor.Token;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Arrays of one dimension whose subscripts begin at 1: offsets, then the elements. Each element is read from the array's text as a value of its type.
final class ArrowListColumn extends ArrowColumn {
  private static final int MAX_ELEMENTS = 1 << 10;
  private static final int MAX_ELEMENT_BYTES = 1 << 30;

  private final ArrowField item;
  private final ArrowColumn elements;
  private final ArrayCursor array = new ArrayCursor();
  private final RowBatchWriter writer = RowBatchWriter.growable(1, MAX_ELEMENTS, MAX_ELEMENT_BYTES);
  private final BatchView view = new BatchView();
  private byte[] offsets = new byte[64];

  ArrowListColumn(ArrowField item) {
    this.item = item;
    this.elements = ArrowColumn.of(item);
  }

  @Override
  void reserve(int total) {
    offsets = grown(offsets, 4L * (total + 1));
  }

  @Override
  void put(BatchView batch, long word) throws IOException {
    array.open(batch.memory(), batch.payloadAt(word), batch.payloadBytes(word));
    if (array.hasBounds() || array.next() != Token.OPEN) {
      throw notSupported();
    }
    Token token = array.next();
    for (; token != Token.CLOSE; token = array.next()) {
      if (token == Token.OPEN) {
        throw notSupported();
      }
      if (token == Token.END) {
        throw new MalformedFrameException("value is no array");
      }
      if (!writer.addRow()) {
        flush();
        writer.addRow();
      }
      if (token == Token.NULL) {
        writer.setNull(0);
      } else if (!set()) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED,
            "array elements are longer than " + MAX_ELEMENT_BYTES + " bytes");
      }
    }
    flush();
    INTS.set(offsets, 4 * (rows + 1), elements.rows);
  }

  private boolean set() {
    return switch (item.form()) {
      case TEXT, JSON -> writer.setBytes(0, Arrays.copyOf(array.bytes(), array.length()));
      default ->
          TextInput.set(
              writer,
              0,
              item.typeOid(),
              new String(array.bytes(), 0, array.length(), StandardCharsets.UTF_8));
    };
  }

  private void flush() throws IOException {
    if (writer.rowCount() > 0) {
      writer.finish();
      view.wrap(writer.batch(), 1);
      elements.append(view, 0, 0, view.rowCount());
      writer.reset();
    }
  }

  private static EngineException notSupported() {
    return new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "an array of several dimensions, or with other subscripts than from 1, has no form in Arrow")
        .withHint("Cast the column to text.");
  }

  @Override
  void putNull() {
    INTS.set(offsets, 4 * (rows + 1), elements.rows);
  }

  @Override
  void values(Buffers buffers) {
    buffers.buffer(offsets, 4 * (rows + 1));
    elements.collect(buffers);
  }

  @Override
  void reset() {
    writer.reset();
    elements.reset();
    super.reset();
  }
}
