package dev.kakehashi.console.html;

import org.jspecify.annotations.Nullable;

/// Markup that is being written. One thread.
///
/// Markup is a constant of the program; values come in by [#add] alone, which escapes them. So no text from outside can become markup.
public final class Html {
  private static final char CONTROL_PICTURES = '\u2400';
  private static final char DELETE = '\u007F';
  private static final char DELETE_PICTURE = '\u2421';

  private final StringBuilder out = new StringBuilder(512);

  /// Markup with its values.
  ///
  /// @param markup a constant, with `{}` in place of each value, in texts and in attributes within double quotes alone
  /// @param values texts, numbers, other markup ([Html]), or null for nothing
  public static Html of(String markup, @Nullable Object... values) {
    return new Html().add(markup, values);
  }

  /// Adds markup, see [#of].
  ///
  /// @throws IllegalArgumentException the number of values is another one
  public Html add(String markup, @Nullable Object... values) {
    int from = 0;
    for (Object value : values) {
      int at = markup.indexOf("{}", from);
      if (at < 0) {
        throw new IllegalArgumentException("too many values for " + markup);
      }
      out.append(markup, from, at);
      if (value instanceof Html html) {
        out.append(html.out);
      } else if (value != null) {
        escape(out, value.toString());
      }
      from = at + 2;
    }
    if (markup.indexOf("{}", from) >= 0) {
      throw new IllegalArgumentException("a value is missing for " + markup);
    }
    out.append(markup, from, markup.length());
    return this;
  }

  /// The one place where texts become markup. Control characters, which HTML cannot hold, become pictures of them.
  private static void escape(StringBuilder out, String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        case '\n', '\t' -> out.append(c);
        case DELETE -> out.append(DELETE_PICTURE);
        default -> out.append(c < ' ' ? (char) (CONTROL_PICTURES + c) : c);
      }
    }
  }

  public boolean isEmpty() {
    return out.isEmpty();
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
