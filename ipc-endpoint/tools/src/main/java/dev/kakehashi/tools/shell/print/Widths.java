package dev.kakehashi.tools.shell.print;

import org.jline.utils.WCWidth;

/// Columns of a terminal that texts take.
final class Widths {
  private Widths() {}

  static int of(String text) {
    int width = 0;
    for (int i = 0; i < text.length(); ) {
      char c = text.charAt(i);
      if (c >= ' ' && c < 0x7f) {
        width++;
        i++;
        continue;
      }
      int point = text.codePointAt(i);
      width += Math.max(0, WCWidth.wcwidth(point));
      i += Character.charCount(point);
    }
    return width;
  }

  /// Lines of a text as they are shown: tabs and characters that move the cursor are spelled out, as psql does.
  static String[] lines(String text) {
    String[] lines = text.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      lines[i] = visible(lines[i]);
    }
    return lines;
  }

  private static String visible(String line) {
    boolean plain = true;
    for (int i = 0; i < line.length() && plain; i++) {
      char c = line.charAt(i);
      plain = c >= ' ' && c != 0x7f && !(c >= 0x80 && c < 0xa0);
    }
    if (plain) {
      return line;
    }
    StringBuilder shown = new StringBuilder();
    int width = 0;
    for (int i = 0; i < line.length(); ) {
      int point = line.codePointAt(i);
      i += Character.charCount(point);
      if (point == '\t') {
        do {
          shown.append(' ');
          width++;
        } while (width % 8 != 0);
      } else if (point == '\r') {
        shown.append("\\r");
        width += 2;
      } else if (point < ' ' || point == 0x7f) {
        shown.append("\\x%02X".formatted(point));
        width += 4;
      } else if (point >= 0x80 && point < 0xa0) {
        shown.append("\\u%04X".formatted(point));
        width += 6;
      } else {
        shown.appendCodePoint(point);
        width += Math.max(0, WCWidth.wcwidth(point));
      }
    }
    return shown.toString();
  }
}
