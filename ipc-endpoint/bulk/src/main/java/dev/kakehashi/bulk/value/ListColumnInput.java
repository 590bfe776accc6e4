package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.ValueForm;
import java.io.IOException;
import java.io.UncheckedIOException;

/// Lists as arrays of one dimension, in the text that row batches have for them. Each element is converted as a value of the array's type.
final class ListColumnInput extends EachInput {
  private final ColumnInput element;
  private final ValueForm form;
  private final BatchFill elements;
  private final RowFailures failures = new RowFailures();
  private final BatchView view = new BatchView();
  private final GrowingBytes array = new GrowingBytes();
  private final Output out = new Output(array);
  private final GrowingBytes plain = new GrowingBytes();
  private final Output plainOut = new Output(plain);

  /// @param element puts the elements
  /// @param elementOid type of the array's elements
  ListColumnInput(String column, ColumnInput element, int elementOid, BulkContext context) {
    super(column);
    this.element = element;
    this.form = ValueForm.of(elementOid);
    this.elements = new BatchFill(1, context);
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    int length = values.lengths()[index];
    elements.begin(length);
    failures.begin(length);
    element.put(values.items(), values.starts()[index], length, elements, 0, failures);
    if (failures.count() > 0) {
      throw first(length);
    }
    view.wrap(elements.finish(), 1);
    array.clear();
    try {
      out.put('{');
      for (int i = 0; i < length; i++) {
        if (i > 0) {
          out.put(',');
        }
        long rowAt = view.rowAt(i);
        if (view.isNull(rowAt, 0)) {
          ElementText.putNull(out);
        } else {
          plain.clear();
          PlainText.put(plainOut, form, view, view.word(rowAt, 0));
          plainOut.drain();
          ElementText.put(out, plain.bytes(), plain.length());
        }
      }
      out.put('}');
      out.drain();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return batch.varlena(array.bytes(), 0, array.length());
  }

  private EngineException first(int length) {
    for (int i = 0; i < length; i++) {
      EngineException failure = failures.of(i);
      if (failure != null) {
        return failure;
      }
    }
    throw new IllegalStateException("no element has failed");
  }

  @Override
  public void close() {
    element.close();
    elements.close();
  }
}
