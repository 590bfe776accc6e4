package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.ArrayCursor;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.TextInput;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.valuetext.array.ArrayReader.Token;

/// Takes arrays of one dimension whose subscripts begin at 1: levels of the lists, and their elements. Not thread-safe.
///
/// | definition | what |
/// |---|---|
/// | 0 | no list |
/// | 1 | a list without elements |
/// | 2 | an element that is null |
/// | 3 | an element |
final class ListSink implements AutoCloseable {
  /// Definition level of a list's elements.
  static final int ELEMENT = 3;

  private static final int MAX_ELEMENTS = 1 << 10;
  private static final int MAX_ELEMENT_BYTES = 1 << 30;
  private final String name;
  private final LeafForm form;
  final Levels levels;
  final ColumnSink elements;
  private final ArrayCursor array = new ArrayCursor();
  private final RowBatchWriter writer = RowBatchWriter.growable(1, MAX_ELEMENTS, MAX_ELEMENT_BYTES);
  private final BatchView view = new BatchView();

  /// @param elements takes them, with levels of its own
  ListSink(String name, LeafForm form, ColumnSink elements, BulkContext context) {
    this.name = name;
    this.form = form;
    this.elements = elements;
    this.levels = new Levels(ELEMENT, true, context);
  }

  /// Takes rows `from` … `to - 1` of a column of a batch.
  void append(BatchView batch, int column, int from, int to) {
    long rowAt = batch.rowAt(from);
    for (int i = from; i < to; i++) {
      if (batch.isNull(rowAt, column)) {
        levels.need(1);
        levels.add(0, 0);
      } else {
        long word = batch.word(rowAt, column);
        array.open(batch.memory(), batch.payloadAt(word), batch.payloadBytes(word));
        add();
      }
      rowAt += batch.stride();
    }
  }

  private void add() {
    if (array.hasBounds() || array.next() != Token.OPEN) {
      throw notSupported();
    }
    int elementsBefore = elements.levels.count;
    for (Token token = array.next(); token != Token.CLOSE; token = array.next()) {
      if (token == Token.OPEN) {
        throw notSupported();
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
                "array elements are longer than " + MAX_ELEMENT_BYTES + " bytes")
            .withColumn(name);
      }
    }
    flush();
    int count = elements.levels.count - elementsBefore;
    levels.need(Math.max(1, count));
    if (count == 0) {
      levels.add(1, 0);
    }
    for (int i = 0; i < count; i++) {
      levels.add(2 + elements.levels.definitions[elementsBefore + i], i == 0 ? 0 : 1);
    }
  }

  private boolean set() {
    return switch (form.form()) {
      case TEXT, JSON -> writer.setBytes(0, array.copy());
      default -> TextInput.set(writer, 0, form.typeOid(), array.text());
    };
  }

  private void flush() {
    if (writer.rowCount() > 0) {
      writer.finish();
      view.wrap(writer.batch(), 1);
      elements.append(view, 0, 0, view.rowCount());
      writer.reset();
    }
  }

  private EngineException notSupported() {
    return new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "an array of several dimensions, or with other subscripts than from 1, has no form in a Parquet list, in column \""
                + name
                + "\"")
        .withColumn(name)
        .withHint("Choose text for the column, or cast it to text.");
  }

  /// Gives its memory back.
  @Override
  public void close() {
    levels.close();
    elements.close();
  }
}
