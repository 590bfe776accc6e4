package dev.kakehashi.tools.shell;

import java.util.Locale;
import org.jline.reader.Highlighter;
import org.jline.reader.LineReader;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/// Colours of keywords, literals and comments in the line that is typed.
final class SqlHighlighter implements Highlighter {
  @Override
  public AttributedString highlight(LineReader reader, String line) {
    AttributedStringBuilder text = new AttributedStringBuilder();
    int at = 0;
    while (at < line.length()) {
      int end = at + 1;
      char c = line.charAt(at);
      AttributedStyle style = AttributedStyle.DEFAULT;
      if (c == '\'' || c == '"') {
        int close = line.indexOf(c, at + 1);
        end = close < 0 ? line.length() : close + 1;
        style =
            AttributedStyle.DEFAULT.foreground(
                c == '\'' ? AttributedStyle.GREEN : AttributedStyle.CYAN);
      } else if (line.startsWith("--", at)) {
        end = line.length();
        style = AttributedStyle.DEFAULT.foreground(AttributedStyle.BRIGHT);
      } else if (c == '\\') {
        while (end < line.length() && !Character.isWhitespace(line.charAt(end))) {
          end++;
        }
        style = AttributedStyle.DEFAULT.foreground(AttributedStyle.MAGENTA);
      } else if (Character.isDigit(c)) {
        while (end < line.length()
            && (Character.isDigit(line.charAt(end)) || line.charAt(end) == '.')) {
          end++;
        }
        style = AttributedStyle.DEFAULT.foreground(AttributedStyle.YELLOW);
      } else if (Character.isJavaIdentifierStart(c)) {
        while (end < line.length() && Character.isJavaIdentifierPart(line.charAt(end))) {
          end++;
        }
        if (SqlKeywords.isKeyword(line.substring(at, end).toUpperCase(Locale.ROOT))) {
          style = AttributedStyle.DEFAULT.bold().foreground(AttributedStyle.BLUE);
        }
      }
      text.styled(style, line.substring(at, end));
      at = end;
    }
    return text.toAttributedString();
  }
}
