package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.Token;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The text that a translator writes, each character with its place in the statement, and the literals that have become `?`.
public final class TranslatedText {
  private final StringBuilder text = new StringBuilder();
  private int[] positions = new int[256];
  private final List<Source.Literal> literals = new ArrayList<>();

  /// Where the signs stand that are prefix operators.
  private Set<Integer> signs = new HashSet<>();

  /// Where the operand begins that was emitted last.
  int operandStart;

  /// Whether a name was emitted last, so that a parenthesis begins its arguments.
  boolean afterName;

  int length() {
    return text.length();
  }

  /// Whether the first `end` characters end with `suffix`.
  boolean endsWith(int end, String suffix) {
    return text.substring(0, end).endsWith(suffix);
  }

  /// The sign that is emitted next is a prefix operator.
  void sign() {
    signs.add(text.length());
  }

  /// @param end of the translated piece in the statement
  Source source(int end) {
    return new Source(text.toString(), literals, Arrays.copyOf(positions, text.length()), end);
  }

  /// Where the operand that was emitted last begins, with the signs in front of it, which bind more tightly than `^` and AT TIME ZONE.
  int signedStart() {
    int start = operandStart;
    while (start >= 2 && signs.contains(start - 2)) {
      start -= 2;
    }
    return start;
  }

  void literal(Source.Literal literal, Token token) {
    literals.add(literal);
    operandStart = text.length();
    emit("? ", token.start());
  }

  void insert(int at, String piece) {
    insert(at, piece, positions[Math.min(at, text.length() - 1)]);
  }

  void insert(int at, String piece, int offset) {
    emit(piece, offset);
    int moved = text.length() - piece.length() - at;
    text.setLength(text.length() - piece.length());
    text.insert(at, piece);
    System.arraycopy(positions, at, positions, at + piece.length(), moved);
    Arrays.fill(positions, at, at + piece.length(), offset);
    signs = moved(signs, at, piece.length());
  }

  private static Set<Integer> moved(Set<Integer> signs, int at, int by) {
    if (signs.isEmpty()) {
      return signs;
    }
    Set<Integer> moved = new HashSet<>();
    for (int sign : signs) {
      moved.add(sign < at ? sign : sign + by);
    }
    return moved;
  }

  void emit(String piece, int offset) {
    afterName = false;
    int needed = text.length() + piece.length();
    if (needed > positions.length) {
      positions = Arrays.copyOf(positions, Math.max(needed, positions.length * 2));
    }
    Arrays.fill(positions, text.length(), needed, offset);
    text.append(piece);
  }

  public static String quoted(String name) {
    String doubled = name.replace("\"", "\"\"");
    return name.indexOf('\n') < 0 && name.indexOf('\r') < 0
        ? "\"" + doubled + "\""
        : withLineBreaks(doubled);
  }

  /// Calcite reads no line break in a quoted name, but the escape of one.
  private static String withLineBreaks(String doubled) {
    return "U&\""
        + doubled.replace("\\", "\\\\").replace("\n", "\\000A").replace("\r", "\\000D")
        + "\"";
  }
}
