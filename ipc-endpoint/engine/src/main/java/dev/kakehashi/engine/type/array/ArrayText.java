package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.text.TextCursor;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// PostgreSQL's text form of arrays, `{1,NULL,"a b"}`, whatever its dimensions, and with bounds in front: `[0:1]={1,2}`.
final class ArrayText extends TextCursor {
  private final List<@Nullable String> elements = new ArrayList<>();

  /// Lengths of the dimensions as far as they have been seen; those of the first array at each depth.
  private final List<Integer> lengths = new ArrayList<>();

  /// Depth at which elements stand; -1: not seen yet.
  private int elementDepth = -1;

  ArrayText(String text) {
    super(text);
  }

  ArrayValue parse() {
    List<Integer> lowerBounds = new ArrayList<>();
    List<Integer> declared = bounds(lowerBounds);
    skipBlanks();
    braces(0);
    skipBlanks();
    if (!atEnd()) {
      throw malformed();
    }
    if (!declared.isEmpty() && !declared.equals(lengths)) {
      throw malformed();
    }
    if (elements.isEmpty()) {
      return ArrayValue.EMPTY;
    }
    return new ArrayValue(
        List.copyOf(lengths),
        declared.isEmpty() ? ArrayValue.ones(lengths.size()) : List.copyOf(lowerBounds),
        elements);
  }

  /// `[2:4][2]=`: the lengths that they say.
  private List<Integer> bounds(List<Integer> lowerBounds) {
    List<Integer> declared = new ArrayList<>();
    skipBlanks();
    while (!atEnd() && text.charAt(at) == '[') {
      at++;
      long lower = 1;
      long upper = integer();
      if (peek() == ':') {
        at++;
        lower = upper;
        upper = integer();
      }
      if (next() != ']') {
        throw malformed();
      }
      if (upper < lower) {
        throw SqlErrors.arraySubscript("upper bound cannot be less than lower bound");
      }
      if (declared.size() == ArrayValue.MAX_DIMENSIONS) {
        throw ArrayValue.tooManyDimensions(ArrayValue.MAX_DIMENSIONS + 1);
      }
      if (lower < Integer.MIN_VALUE || upper >= Integer.MAX_VALUE || upper - lower >= (1 << 27)) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "array size exceeds the maximum allowed");
      }
      lowerBounds.add((int) lower);
      declared.add((int) (upper - lower + 1));
      skipBlanks();
    }
    if (!declared.isEmpty() && next() != '=') {
      throw malformed();
    }
    return declared;
  }

  private long integer() {
    int begin = at;
    if (peek() == '-' || peek() == '+') {
      at++;
    }
    int digits = at;
    while (peek() >= '0' && peek() <= '9') {
      at++;
    }
    if (at == digits || at - digits > 10) {
      throw malformed();
    }
    return Long.parseLong(text.substring(begin, at));
  }

  private void braces(int depth) {
    if (depth == ArrayValue.MAX_DIMENSIONS) {
      throw ArrayValue.tooManyDimensions(depth + 1);
    }
    if (next() != '{') {
      throw malformed();
    }
    skipBlanks();
    int count = 0;
    if (peek() == '}') {
      at++;
    } else {
      boolean more = true;
      while (more) {
        item(depth);
        count++;
        char separator = next();
        if (separator != '}' && separator != ',') {
          throw malformed();
        }
        more = separator == ',';
      }
    }
    length(depth, count);
  }

  private void item(int depth) {
    checkNowAndThen();
    skipBlanks();
    boolean inner = peek() == '{';
    if (elementDepth >= 0 && inner != depth < elementDepth) {
      throw malformed();
    }
    if (inner) {
      braces(depth + 1);
    } else {
      elementDepth = depth;
      elements.add(element());
    }
    skipBlanks();
  }

  private void length(int depth, int count) {
    while (lengths.size() <= depth) {
      lengths.add(-1);
    }
    if (lengths.get(depth) < 0) {
      lengths.set(depth, count);
    } else if (lengths.get(depth) != count) {
      throw malformed();
    }
  }

  private @Nullable String element() {
    StringBuilder value = new StringBuilder();
    if (peek() == '"') {
      at++;
      for (char c = next(); c != '"'; c = next()) {
        value.append(c == '\\' ? next() : c);
      }
      return value.toString();
    }
    // Blanks at the end of a bare element do not belong to it, unless they are escaped.
    int length = 0;
    boolean escaped = false;
    for (char c = peek(); c != ',' && c != '}'; c = peek()) {
      at++;
      if (c == '"' || c == '{') {
        throw malformed();
      }
      boolean literal = c == '\\';
      value.append(literal ? next() : c);
      escaped |= literal;
      if (literal || !isSpace(c)) {
        length = value.length();
      }
    }
    if (length == 0) {
      throw malformed();
    }
    value.setLength(length);
    String bare = value.toString();
    return !escaped && bare.equalsIgnoreCase("null") ? null : bare;
  }

  private static boolean isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }

  @Override
  protected boolean isBlank(char c) {
    return isSpace(c);
  }

  @Override
  protected EngineException malformed() {
    return new EngineException(
        ErrorCode.INVALID_TEXT_REPRESENTATION, "malformed array literal: \"" + text + "\"");
  }

  /// Writes an element, in quotes if it would be read as something else without them.
  static void append(StringBuilder out, @Nullable String element) {
    if (element == null) {
      out.append("NULL");
      return;
    }
    boolean quoted = element.isEmpty() || element.equalsIgnoreCase("null");
    for (int i = 0; i < element.length() && !quoted; i++) {
      char c = element.charAt(i);
      quoted = c == '"' || c == '\\' || c == '{' || c == '}' || c == ',' || isSpace(c);
    }
    if (!quoted) {
      out.append(element);
      return;
    }
    out.append('"');
    for (int i = 0; i < element.length(); i++) {
      char c = element.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\');
      }
      out.append(c);
    }
    out.append('"');
  }
}
