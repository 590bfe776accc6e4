package dev.kakehashi.valuetext.array;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Steps through the text of an array of any dimensions, `{1,NULL,"a b"}`, also with bounds in front, `[0:1]={{1},{2}}`. It takes what
/// PostgreSQL's `array_in()` takes, and refuses the rest with its SQLSTATE and its words.
///
/// ```
///  open() ──► next(): OPEN ──► … VALUE, NULL, OPEN, CLOSE … ──► CLOSE ──► END
/// ```
///
/// Braces, commas and blanks are ASCII, so the text may be read byte by byte. An element is where the text has it, or in an array of the
/// reader's own if it has escapes. So there is no object for an element. Text in a memory segment is read piece by piece.
///
/// Bounds and lengths of the dimensions are those of the whole array at END. Not thread-safe; may be used for one array after another.
public final class ArrayReader {
  /// Parts of the text.
  public enum Token {
    OPEN,
    CLOSE,
    NULL,
    /// An element, see [#bytes()].
    VALUE,
    END
  }

  /// As many as PostgreSQL has.
  public static final int MAX_DIMENSIONS = 6;

  /// As many as PostgreSQL has.
  public static final int MAX_ELEMENTS = 134_217_727;

  /// Bytes behind an element that may be read: always in the reader's own array, and in the caller's if it has them behind the text.
  public static final int PADDING = 8;

  /// Most bytes of a memory segment that are copied at once.
  private static final int PIECE_BYTES = 1 << 14;

  private static final int UNKNOWN = -1;

  /// Bytes that end an unquoted element, or may not be in it as they are.
  private static final boolean[] STOPS = new boolean[256];

  static {
    for (char each : new char[] {',', '}', '{', '"', '\\'}) {
      STOPS[each] = true;
    }
  }

  private final int[] lengths = new int[MAX_DIMENSIONS];
  private final int[] lowerBounds = new int[MAX_DIMENSIONS];

  /// Elements and inner arrays so far of each open brace.
  private final int[] counts = new int[MAX_DIMENSIONS];

  /// The text, or the piece of it that is read.
  private byte[] text = {};

  private int at;
  private int end;

  /// Where the whole text is, if it is in a segment.
  private MemorySegment source = MemorySegment.NULL;

  private boolean isSegment;
  private long begin;
  private long textBytes;

  /// Bytes of the text that have come to be in `text`.
  private long takenBytes;

  private byte[] piece = {};
  private byte[] scratch = new byte[64];
  private int depth;
  private int dimensions;
  private boolean hasBounds;

  /// Whether the number of dimensions is known: bounds say it, or an element was seen.
  private boolean isDepthKnown;

  /// Whether a comma or a brace has to follow.
  private boolean isBehindItem;

  private boolean isBehindQuote;
  private boolean isOver;
  private int elementCount;
  private byte[] value = {};
  private int valueFrom;
  private int valueLength;

  /// Begins an array whose text is `bytes[from]` … `bytes[to - 1]`, which must not change until its end.
  ///
  /// @throws EngineException as [#next()]
  public void open(byte[] bytes, int from, int to) {
    isSegment = false;
    textBytes = (long) to - from;
    takenBytes = textBytes;
    text = bytes;
    at = from;
    end = to;
    begin = from;
    begin();
  }

  /// Begins an array whose text is `bytes` bytes at `from`.
  ///
  /// @throws EngineException as [#next()]
  public void open(MemorySegment segment, long from, int bytes) {
    isSegment = true;
    source = segment;
    begin = from;
    textBytes = bytes;
    takenBytes = 0;
    at = 0;
    end = 0;
    begin();
  }

  private void begin() {
    depth = 0;
    dimensions = 0;
    hasBounds = false;
    isDepthKnown = false;
    isBehindItem = false;
    isBehindQuote = false;
    isOver = false;
    elementCount = 0;
    Arrays.fill(lengths, UNKNOWN);
    Arrays.fill(lowerBounds, 1);
    skipBlanks();
    while (isAt('[')) {
      bounds();
      skipBlanks();
    }
    if (hasBounds) {
      if (!isAt('=')) {
        throw malformed("Missing \"=\" after array dimensions.");
      }
      at++;
      skipBlanks();
    }
    if (!isAt('{')) {
      throw malformed(
          hasBounds
              ? "Array contents must start with \"{\"."
              : "Array value must start with \"{\" or dimension information.");
    }
  }

  /// `[4]` or `[2:4]`.
  private void bounds() {
    at++;
    if (dimensions == MAX_DIMENSIONS) {
      throw ValueErrors.tooManyDimensions(dimensions + 1, MAX_DIMENSIONS);
    }
    long lower = 1;
    long upper = bound("\"[\" must introduce explicitly-specified array dimensions.");
    if (isAt(':')) {
      at++;
      lower = upper;
      upper = bound("Missing array dimension value.");
    }
    if (!isAt(']')) {
      throw malformed("Missing \"]\" after array dimensions.");
    }
    at++;
    if (upper < lower) {
      throw new EngineException(
          ErrorCode.ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound");
    }
    if (upper == Integer.MAX_VALUE) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "array upper bound is too large: " + upper);
    }
    if (upper - lower >= Integer.MAX_VALUE) {
      throw ValueErrors.tooManyElements(MAX_ELEMENTS);
    }
    lowerBounds[dimensions] = (int) lower;
    lengths[dimensions] = (int) (upper - lower + 1);
    dimensions++;
    hasBounds = true;
    isDepthKnown = true;
  }

  private int bound(String missing) {
    boolean negative = isAt('-');
    if (negative || isAt('+')) {
      at++;
    }
    long number = 0;
    boolean hasDigits = false;
    while (!isAtEnd() && text[at] >= '0' && text[at] <= '9') {
      number = Math.min(10 * number + (text[at] - '0'), 1L << 32);
      hasDigits = true;
      at++;
    }
    if (!hasDigits) {
      throw malformed(missing);
    }
    long signed = negative ? -number : number;
    if (signed != (int) signed) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "array bound is out of range");
    }
    return (int) signed;
  }

  /// The next part. The element of the one before is gone.
  ///
  /// @throws EngineException INVALID_TEXT_REPRESENTATION for text that is no array, ARRAY_SUBSCRIPT_ERROR, NUMERIC_VALUE_OUT_OF_RANGE or
  ///     LIMIT_EXCEEDED for bounds and dimensions that there cannot be
  public Token next() {
    skipBlanks();
    if (isOver) {
      if (!isAtEnd()) {
        throw malformed("Junk after closing right brace.");
      }
      return Token.END;
    }
    int each = peek();
    if (isBehindItem) {
      if (each == '}') {
        return close();
      }
      if (each != ',') {
        throw each == '{'
            ? unexpected(each)
            : malformed(
                isBehindQuote ? "Incorrectly quoted array element." : "Unexpected array element.");
      }
      at++;
      isBehindItem = false;
      skipBlanks();
      each = peek();
    } else if (each == '}' && depth > 0 && counts[depth - 1] == 0) {
      return close();
    }
    return switch (each) {
      case '{' -> brace();
      case '"' -> {
        element();
        quoted();
        yield Token.VALUE;
      }
      case ',', '}' -> throw unexpected(each);
      default -> {
        element();
        yield bare() ? Token.NULL : Token.VALUE;
      }
    };
  }

  private Token brace() {
    at++;
    if (depth == MAX_DIMENSIONS) {
      throw ValueErrors.tooManyDimensions(depth + 1, MAX_DIMENSIONS);
    }
    counts[depth] = 0;
    depth++;
    if (depth > dimensions) {
      if (isDepthKnown) {
        throw mismatch();
      }
      dimensions = depth;
    }
    return Token.OPEN;
  }

  private Token close() {
    at++;
    depth--;
    if (depth > 0) {
      counts[depth - 1]++;
    }
    if (lengths[depth] == UNKNOWN) {
      lengths[depth] = counts[depth];
    } else if (lengths[depth] != counts[depth]) {
      throw mismatch();
    }
    isBehindItem = true;
    isBehindQuote = false;
    isOver = depth == 0;
    return Token.CLOSE;
  }

  /// Counts an element: all of them stand at one depth.
  private void element() {
    if (depth != dimensions) {
      throw mismatch();
    }
    isDepthKnown = true;
    if (elementCount == MAX_ELEMENTS) {
      throw ValueErrors.tooManyElements(MAX_ELEMENTS);
    }
    elementCount++;
    counts[depth - 1]++;
    isBehindItem = true;
    isBehindQuote = false;
  }

  private void quoted() {
    at++;
    isBehindQuote = true;
    for (int i = at; i < end && text[i] != '\\'; i++) {
      if (text[i] == '"') {
        setValue(text, at, i);
        at = i + 1;
        return;
      }
    }
    int copied = 0;
    for (int each = read(); each != '"'; each = read()) {
      put(copied++, each == '\\' ? read() : each);
    }
    setValue(scratch, 0, copied);
  }

  /// Reads an element without quotes, and says whether it is null. Blanks at its end do not belong to it, unless they are escaped.
  private boolean bare() {
    int to = at;
    while (to < end && !STOPS[text[to] & 0xFF]) {
      to++;
    }
    if (to == end || (text[to] != ',' && text[to] != '}')) {
      return copiedBare();
    }
    int last = to;
    while (Spaces.isSpace(text[last - 1])) {
      last--;
    }
    setValue(text, at, last);
    at = to;
    return ArrayElements.isNull(value, valueFrom, valueLength);
  }

  private boolean copiedBare() {
    int copied = 0;
    int kept = 0;
    boolean escaped = false;
    for (int each = peek(); each != ',' && each != '}'; each = peek()) {
      at++;
      if (each == '"') {
        throw malformed("Incorrectly quoted array element.");
      }
      if (each == '{') {
        throw unexpected(each);
      }
      boolean literal = each == '\\';
      put(copied++, literal ? read() : each);
      escaped |= literal;
      if (literal || !Spaces.isSpace(each)) {
        kept = copied;
      }
    }
    setValue(scratch, 0, kept);
    return !escaped && ArrayElements.isNull(scratch, 0, kept);
  }

  private void put(int index, int each) {
    if (index + PADDING >= scratch.length) {
      scratch = Arrays.copyOf(scratch, 2 * scratch.length);
    }
    scratch[index] = (byte) each;
  }

  private void setValue(byte[] bytes, int from, int to) {
    value = bytes;
    valueFrom = from;
    valueLength = to - from;
  }

  /// The array that has the element from [#from()] on, in [#length()] bytes of UTF-8: the caller's or the reader's.
  public byte[] bytes() {
    return value;
  }

  public int from() {
    return valueFrom;
  }

  public int length() {
    return valueLength;
  }

  /// Whether the text says bounds.
  public boolean hasBounds() {
    return hasBounds;
  }

  /// Elements so far.
  public int elementCount() {
    return elementCount;
  }

  public int dimensions() {
    return dimensions;
  }

  /// Elements, or inner arrays, of the arrays of a dimension, which is counted from 0.
  public int length(int dimension) {
    return lengths[dimension];
  }

  /// First subscript of a dimension.
  public int lowerBound(int dimension) {
    return lowerBounds[dimension];
  }

  private boolean isAtEnd() {
    return at == end && !fill();
  }

  /// Copies the next piece of the source. A value that was in the piece before is gone.
  private boolean fill() {
    if (takenBytes == textBytes) {
      return false;
    }
    int count = (int) Math.min(textBytes - takenBytes, PIECE_BYTES);
    if (piece.length < count + PADDING) {
      piece = new byte[Math.min(Math.max(2 * piece.length, count), PIECE_BYTES) + PADDING];
    }
    MemorySegment.copy(source, ValueLayout.JAVA_BYTE, begin + takenBytes, piece, 0, count);
    takenBytes += count;
    text = piece;
    at = 0;
    end = count;
    return true;
  }

  private boolean isAt(char each) {
    return !isAtEnd() && text[at] == each;
  }

  private void skipBlanks() {
    while (!isAtEnd() && Spaces.isSpace(text[at])) {
      at++;
    }
  }

  private int peek() {
    if (isAtEnd()) {
      throw malformed("Unexpected end of input.");
    }
    return text[at] & 0xFF;
  }

  private int read() {
    int each = peek();
    at++;
    return each;
  }

  private EngineException unexpected(int each) {
    return malformed("Unexpected \"" + (char) each + "\" character.");
  }

  private EngineException mismatch() {
    return malformed(
        hasBounds
            ? "Specified array dimensions do not match array contents."
            : "Multidimensional arrays must have sub-arrays with matching dimensions.");
  }

  private EngineException malformed(String detail) {
    String shown;
    if (isSegment) {
      byte[] first =
          source
              .asSlice(begin, Math.min(textBytes, ValueErrors.MAX_SHOWN_BYTES))
              .toArray(ValueLayout.JAVA_BYTE);
      shown = ValueErrors.shown(first, 0, first.length);
    } else {
      shown = ValueErrors.shown(text, (int) begin, end);
    }
    return new EngineException(
            ErrorCode.INVALID_TEXT_REPRESENTATION, "malformed array literal: \"" + shown + "\"")
        .withDetail(detail);
  }
}
