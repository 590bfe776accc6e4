package dev.kakehashi.formats;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.array.ArrayElements;
import dev.kakehashi.valuetext.array.ArrayReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Makes PostgreSQL's text of an array from a JSON array, nested by dimensions. Each element is read as a value of its type and written as
/// PostgreSQL writes it. Not thread-safe.
final class ArrayInput {
  private final int elementOid;
  private final ValueForm form;
  private final int maxBytes;
  private final RowBatchWriter element;
  private final BatchView view = new BatchView();
  private final ByteArrayOutputStream text = new ByteArrayOutputStream();
  private final Output elementOut = new Output(text);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final List<Integer> lengths = new ArrayList<>();

  /// Depth at which elements stand; -1: none was seen.
  private int elementDepth = -1;

  private ArrayInput(int elementOid, int maxBytes) {
    this.elementOid = elementOid;
    this.form = ValueForm.of(elementOid);
    this.maxBytes = maxBytes;
    this.element = RowBatchWriter.growable(1, 1, maxBytes);
  }

  /// Reads the array that the parser is at, to its end.
  ///
  /// @throws EngineException LIMIT_EXCEEDED, ARRAY_SUBSCRIPT_ERROR if it is not rectangular, and those of the elements
  static byte[] read(JsonParser parser, int elementOid, int maxBytes) throws IOException {
    ArrayInput input = new ArrayInput(elementOid, maxBytes);
    input.dimension(parser, 0);
    return input.elementDepth < 0 ? new byte[] {'{', '}'} : input.out.toByteArray();
  }

  private boolean isJson() {
    return elementOid == TypeOid.JSON || elementOid == TypeOid.JSONB;
  }

  private void dimension(JsonParser parser, int depth) throws IOException {
    if (depth == ArrayReader.MAX_DIMENSIONS) {
      throw ValueErrors.tooManyDimensions(depth + 1, ArrayReader.MAX_DIMENSIONS);
    }
    out.write('{');
    int count = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (count++ > 0) {
        out.write(',');
      }
      boolean inner = parser.currentToken() == JsonToken.START_ARRAY && !isJson();
      if (elementDepth >= 0 && inner != depth < elementDepth) {
        throw notRectangular();
      }
      if (inner) {
        dimension(parser, depth + 1);
      } else {
        elementDepth = depth;
        element(parser);
      }
      if (out.size() > maxBytes) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "array is longer than " + maxBytes + " bytes");
      }
    }
    out.write('}');
    while (lengths.size() <= depth) {
      lengths.add(-1);
    }
    if (lengths.get(depth) < 0) {
      lengths.set(depth, count);
    } else if (lengths.get(depth) != count) {
      throw notRectangular();
    }
  }

  private static EngineException notRectangular() {
    return new EngineException(
        ErrorCode.ARRAY_SUBSCRIPT_ERROR,
        "multidimensional arrays must have array expressions with matching dimensions");
  }

  private void element(JsonParser parser) throws IOException {
    if (parser.currentToken() == JsonToken.VALUE_NULL) {
      ArrayElements.putNull(out);
      return;
    }
    element.reset();
    if (!element.addRow() || !JsonParameters.set(element, 0, elementOid, parser, maxBytes)) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "array element is longer than " + maxBytes + " bytes");
    }
    element.finish();
    view.wrap(element.batch(), 1);
    text.reset();
    PlainText.put(elementOut, form, view, view.word(view.rowAt(0), 0));
    elementOut.drain();
    ArrayElements.put(out, text.toByteArray());
  }
}
