package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.valuetext.array.ArrayElements;
import dev.kakehashi.valuetext.array.ArrayReader;
import dev.kakehashi.valuetext.array.ArrayReader.Token;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/// Arrays of any dimensions, `{1,NULL,"a b"}`, and with bounds in front: `[0:1]={1,2}`. Each element is read as a value of its type, and
/// the array is written as PostgreSQL writes it.
final class TextToArray extends TextColumn {
  /// Copies of the text and of what is written, about.
  private static final long COPIES = 6;

  private final BulkContext context;
  private final TextColumn elements;
  private final ValueForm form;
  private final TextBatch element;
  private final BatchView view = new BatchView();
  private final ByteArrayOutputStream text = new ByteArrayOutputStream();
  private final Output elementOut = new Output(text);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ArrayReader reader = new ArrayReader();

  TextToArray(int elementOid, int modifier, BulkContext context) {
    this.context = context;
    elements = TextColumn.of(elementOid, modifier, context);
    form = ValueForm.of(elementOid);
    element = TextBatch.single(context);
  }

  @Override
  public void set(byte[] source, int from, int to, TextBatch batch, int column) {
    long memory = to - from > FileUtf8.SMALL_BYTES ? COPIES * (to - from) : 0;
    context.reserveMemory(memory);
    try {
      read(source, from, to, batch, column);
    } finally {
      context.releaseMemory(memory);
    }
  }

  private void read(byte[] source, int from, int to, TextBatch batch, int column) {
    reader.open(source, from, to);
    out.reset();
    try {
      copy();
    } catch (IOException e) {
      // Arrays in memory do not fail.
      throw new UncheckedIOException(e);
    }
    boolean isEmpty = reader.elementCount() == 0;
    byte[] body = isEmpty ? new byte[] {'{', '}'} : out.toByteArray();
    byte[] prefix = isEmpty ? new byte[0] : writtenBounds();
    int payload = batch.varlena(column, prefix.length + body.length);
    System.arraycopy(prefix, 0, batch.memory, payload, prefix.length);
    System.arraycopy(body, 0, batch.memory, payload + prefix.length, body.length);
  }

  /// Writes what is between the outer braces, and these.
  private void copy() throws IOException {
    boolean isFirst = true;
    for (Token token = reader.next(); token != Token.END; token = reader.next()) {
      if (token == Token.CLOSE) {
        out.write('}');
        isFirst = false;
        continue;
      }
      if (!isFirst) {
        out.write(',');
      }
      isFirst = token == Token.OPEN;
      switch (token) {
        case OPEN -> out.write('{');
        case NULL -> ArrayElements.putNull(out);
        default -> value();
      }
    }
  }

  /// None if all subscripts begin at 1.
  private byte[] writtenBounds() {
    boolean isNeeded = false;
    StringBuilder written = new StringBuilder();
    for (int i = 0; i < reader.dimensions(); i++) {
      int lower = reader.lowerBound(i);
      isNeeded |= lower != 1;
      written.append('[').append(lower).append(':');
      written.append(lower + reader.length(i) - 1L).append(']');
    }
    return isNeeded
        ? written.append('=').toString().getBytes(StandardCharsets.US_ASCII)
        : new byte[0];
  }

  private void value() throws IOException {
    element.reset();
    element.addRow();
    int from = reader.from();
    elements.set(reader.bytes(), from, from + reader.length(), element, 0);
    view.wrap(element.finish(), 1);
    text.reset();
    PlainText.put(elementOut, form, view, view.word(view.rowAt(0), 0));
    elementOut.drain();
    ArrayElements.put(out, text.toByteArray());
  }

  @Override
  public void close() {
    element.close();
    elements.close();
  }
}
