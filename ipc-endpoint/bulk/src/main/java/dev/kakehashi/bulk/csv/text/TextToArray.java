package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Arrays of any dimensions, `{1,NULL,"a b"}`, and with bounds in front: `[0:1]={1,2}`. Each element is read as a value of its type, and
/// the array is written as PostgreSQL writes it.
final class TextToArray extends TextColumn {
  private static final int MAX_DIMENSIONS = 6;
  private static final int MAX_ELEMENTS = 1 << 27;

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
  private final int[] lengths = new int[MAX_DIMENSIONS];
  private final int[] lowers = new int[MAX_DIMENSIONS];
  private final long[] declared = new long[MAX_DIMENSIONS];
  private byte[] scratch = new byte[64];
  private byte[] bytes = {};
  private int begin;
  private int at;
  private int end;
  private int declaredCount;

  /// Dimensions whose length is known.
  private int depthSeen;

  /// Depth at which elements stand; -1: none was seen.
  private int elementDepth;

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
    bytes = source;
    begin = from;
    at = from;
    end = to;
    elementDepth = -1;
    depthSeen = 0;
    Arrays.fill(lengths, -1);
    out.reset();
    bounds();
    skipBlanks();
    try {
      braces(0);
    } catch (IOException e) {
      // Arrays in memory do not fail.
      throw new UncheckedIOException(e);
    }
    skipBlanks();
    if (at != end) {
      throw malformed("Junk after closing right brace.");
    }
    for (int i = 0; i < declaredCount; i++) {
      if (declaredCount != depthSeen || declared[i] != lengths[i]) {
        throw malformed("Specified array dimensions do not match array contents.");
      }
    }
    byte[] body = elementDepth < 0 ? new byte[] {'{', '}'} : out.toByteArray();
    byte[] prefix = elementDepth < 0 ? new byte[0] : writtenBounds();
    int payload = batch.varlena(column, prefix.length + body.length);
    System.arraycopy(prefix, 0, batch.memory, payload, prefix.length);
    System.arraycopy(body, 0, batch.memory, payload + prefix.length, body.length);
  }

  private byte[] writtenBounds() {
    boolean isNeeded = false;
    StringBuilder written = new StringBuilder();
    for (int i = 0; i < declaredCount; i++) {
      isNeeded |= lowers[i] != 1;
      written.append('[').append(lowers[i]).append(':');
      written.append(lowers[i] + lengths[i] - 1L).append(']');
    }
    return isNeeded
        ? written.append('=').toString().getBytes(StandardCharsets.US_ASCII)
        : new byte[0];
  }

  /// `[2:4][2]=`
  private void bounds() {
    declaredCount = 0;
    skipBlanks();
    while (peek() == '[') {
      at++;
      long lower = 1;
      long upper = integer();
      if (peek() == ':') {
        at++;
        lower = upper;
        upper = integer();
      }
      if (next() != ']') {
        throw malformed("Missing \"]\" after array dimensions.");
      }
      if (declaredCount == MAX_DIMENSIONS) {
        throw tooManyDimensions();
      }
      if (upper < lower) {
        throw new EngineException(
            ErrorCode.ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound");
      }
      if (lower < Integer.MIN_VALUE
          || upper >= Integer.MAX_VALUE
          || upper - lower >= MAX_ELEMENTS) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "array size exceeds the maximum allowed");
      }
      lowers[declaredCount] = (int) lower;
      declared[declaredCount++] = upper - lower + 1;
      skipBlanks();
    }
    if (declaredCount > 0 && next() != '=') {
      throw malformed("Missing \"=\" after array dimensions.");
    }
  }

  private long integer() {
    boolean negative = peek() == '-';
    if (negative || peek() == '+') {
      at++;
    }
    int first = at;
    long value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = 10 * value + (next() - '0');
      if (at - first > 10) {
        throw malformed("Array bound is out of range.");
      }
    }
    if (at == first) {
      throw malformed("\"[\" must introduce explicitly-specified array dimensions.");
    }
    return negative ? -value : value;
  }

  private void braces(int depth) throws IOException {
    if (depth == MAX_DIMENSIONS) {
      throw tooManyDimensions();
    }
    if (next() != '{') {
      throw malformed("Array value must start with \"{\" or dimension information.");
    }
    out.write('{');
    depthSeen = Math.max(depthSeen, depth + 1);
    skipBlanks();
    int count = 0;
    if (peek() == '}') {
      at++;
    } else {
      int separator = ',';
      while (separator == ',') {
        if (count > 0) {
          out.write(',');
        }
        item(depth);
        count++;
        separator = next();
        if (separator != '}' && separator != ',') {
          throw malformed("Unexpected array element.");
        }
      }
    }
    out.write('}');
    if (lengths[depth] >= 0 && lengths[depth] != count) {
      throw malformed("Multidimensional arrays must have sub-arrays with matching dimensions.");
    }
    lengths[depth] = count;
  }

  private void item(int depth) throws IOException {
    skipBlanks();
    boolean inner = peek() == '{';
    if (elementDepth >= 0 && inner != depth < elementDepth) {
      throw malformed("Multidimensional arrays must have sub-arrays with matching dimensions.");
    }
    if (inner) {
      braces(depth + 1);
    } else {
      elementDepth = depth;
      element();
    }
    skipBlanks();
  }

  private void element() throws IOException {
    int length = 0;
    if (peek() == '"') {
      at++;
      for (int c = next(); c != '"'; c = next()) {
        put(length++, c == '\\' ? next() : c);
      }
    } else {
      int kept = 0;
      boolean escaped = false;
      for (int c = peek(); c != ',' && c != '}'; c = peek()) {
        next();
        if (c == '"' || c == '{') {
          throw malformed("Unexpected \"" + (char) c + "\" character.");
        }
        boolean literal = c == '\\';
        put(length++, literal ? next() : c);
        escaped |= literal;
        if (literal || !FileUtf8.isBlank((byte) c)) {
          kept = length;
        }
      }
      if (kept == 0) {
        throw malformed("Unexpected array element.");
      }
      length = kept;
      if (!escaped && PlainText.isNull(scratch, length)) {
        out.write('N');
        out.write('U');
        out.write('L');
        out.write('L');
        return;
      }
    }
    value(length);
  }

  private void put(int length, int value) {
    if (length + Eight.PADDING >= scratch.length) {
      scratch = Arrays.copyOf(scratch, 2 * scratch.length);
    }
    scratch[length] = (byte) value;
  }

  private void value(int length) throws IOException {
    element.reset();
    element.addRow();
    elements.set(scratch, 0, length, element, 0);
    view.wrap(element.finish(), 1);
    text.reset();
    PlainText.put(elementOut, form, view, view.word(view.rowAt(0), 0));
    elementOut.drain();
    PlainText.putElement(out, text.toByteArray());
  }

  private void skipBlanks() {
    while (at < end && FileUtf8.isBlank(bytes[at])) {
      at++;
    }
  }

  /// 0 at the end.
  private int peek() {
    return at < end ? bytes[at] & 0xFF : 0;
  }

  private int next() {
    if (at >= end) {
      throw malformed("Unexpected end of input.");
    }
    return bytes[at++] & 0xFF;
  }

  private static EngineException tooManyDimensions() {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED,
        "number of array dimensions exceeds the maximum allowed (" + MAX_DIMENSIONS + ")");
  }

  private EngineException malformed(String detail) {
    return new EngineException(
            ErrorCode.INVALID_TEXT_REPRESENTATION,
            "malformed array literal: \"" + FileUtf8.shown(bytes, begin, end) + "\"")
        .withDetail(detail);
  }

  @Override
  public void close() {
    element.close();
    elements.close();
  }
}
