package dev.kakehashi.tools.shell.print;

/// Shows a place in a statement: its line, and a mark below it.
public final class Pointer {
  private static final int MOST_COLUMNS = 60;
  private static final int MIN_RIGHT_CUT = 10;

  private Pointer() {}

  /// Two lines.
  ///
  /// @param position character of the text, from 1
  public static String to(String sql, int position) {
    int at = sql.offsetByCodePoints(0, Math.min(position - 1, sql.codePointCount(0, sql.length())));
    int begin = sql.lastIndexOf('\n', at - 1) + 1;
    int end = sql.indexOf('\n', at);
    if (end < 0) {
      end = sql.length();
    }
    int line = 1 + (int) sql.substring(0, begin).chars().filter(c -> c == '\n').count();
    String text = sql.substring(begin, end).replace('\t', ' ').replace('\r', ' ');
    int column = at - begin;
    boolean cutBefore = false;
    boolean cutAfter = false;
    if (text.length() > MOST_COLUMNS) {
      int right = Math.min(text.length(), Math.max(MOST_COLUMNS, column + MIN_RIGHT_CUT));
      int left = Math.max(0, right - MOST_COLUMNS);
      cutAfter = right < text.length();
      cutBefore = left > 0;
      text = text.substring(left, right);
      column -= left;
    }
    String head = "LINE " + line + ": " + (cutBefore ? "..." : "");
    return head
        + text
        + (cutAfter ? "..." : "")
        + "\n"
        + " "
            .repeat(Widths.of(head) + Widths.of(text.substring(0, Math.min(column, text.length()))))
        + "^\n";
  }
}
