package dev.kakehashi.formats;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.valuetext.array.ArrayReader.Token;
import java.io.IOException;

/// Arrays of one dimension whose subscripts begin at 1: offsets, then the elements. Each element is read from the array's text as a value
/// of its type.
final class ArrowListColumn extends ArrowColumn {
  private static final int MAX_ELEMENTS = 1 << 10;
  private static final int MAX_ELEMENT_BYTES = 1 << 30;

  private final ArrowField item;
  private final boolean missingIsNull;
  private final ArrowColumn elements;
  private final ArrayCursor array = new ArrayCursor();
  private final RowBatchWriter writer = RowBatchWriter.growable(1, MAX_ELEMENTS, MAX_ELEMENT_BYTES);
  private final BatchView view = new BatchView();
  private byte[] offsets = new byte[64];

  ArrowListColumn(ArrowField item, boolean missingIsNull) {
    this.item = item;
    this.missingIsNull = missingIsNull;
    this.elements = ArrowColumn.of(item, missingIsNull);
  }

  @Override
  void reserve(int total) {
    offsets = grown(offsets, 4L * (total + 1));
  }

  @Override
  void putAll(BatchView batch, int column, int from, int to, boolean anyNull) throws IOException {
    long wordAt = batch.wordAt(batch.rowAt(from), column);
    for (int row = rows; row < rows + to - from; row++) {
      if (!anyNull || isPresent(row)) {
        put(batch, row, batch.memory().get(BatchView.I64, wordAt));
      }
      INTS.set(offsets, 4 * (row + 1), elements.rows);
      wordAt += batch.stride();
    }
  }

  private void put(BatchView batch, int row, long word) throws IOException {
    array.open(batch.memory(), batch.payloadAt(word), batch.payloadBytes(word));
    if (array.hasBounds() || array.next() != Token.OPEN) {
      missing(row);
      return;
    }
    Token token = array.next();
    if (token == Token.OPEN) {
      missing(row);
      return;
    }
    for (; token != Token.CLOSE; token = array.next()) {
      if (token == Token.OPEN) {
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
  }

  private boolean set() {
    return switch (item.form()) {
      case TEXT, JSON -> writer.setBytes(0, array.copy());
      default -> TextInput.set(writer, 0, item.typeOid(), array.text());
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

  private void missing(int row) {
    if (!missingIsNull) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "an array of several dimensions, or with other subscripts than from 1, has no form in Arrow")
          .withHint("Cast the column to text.");
    }
    makeNull(row);
  }

  @Override
  void values(Buffers buffers) {
    buffers.buffer(offsets, 4 * (rows + 1));
    elements.collect(buffers);
  }

  @Override
  public void reset() {
    writer.reset();
    elements.reset();
    super.reset();
  }
}
