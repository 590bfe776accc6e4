package dev.kakehashi.tools.shell;

import org.jspecify.annotations.Nullable;

/// Prompts, with the substitutions of psql: `%/` database, `%n` user, `%R` what is awaited, `%x` transaction, `%#`, `%:name:`.
final class PromptText {
  private PromptText() {}

  static String of(Shell shell, @Nullable String form) {
    if (form == null || !shell.isInteractive()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < form.length(); i++) {
      char c = form.charAt(i);
      if (c != '%' || i + 1 == form.length()) {
        text.append(c);
        continue;
      }
      char what = form.charAt(++i);
      switch (what) {
        case '/', '~' -> text.append(String.valueOf(shell.variables.get("DBNAME")));
        case 'n' -> text.append(String.valueOf(shell.variables.get("USER")));
        case 'R' -> text.append(shell.scanner.state().mark);
        case 'x' ->
            text.append(shell.link.isFailed() ? "!" : shell.link.isInTransaction() ? "*" : "");
        case '#' -> text.append('>');
        case '%' -> text.append('%');
        case ':' -> {
          int close = form.indexOf(':', i + 1);
          if (close > 0) {
            String value = shell.variables.get(form.substring(i + 1, close));
            text.append(value == null ? "" : value);
            i = close;
          }
        }
        default -> text.append(what);
      }
    }
    return text.toString();
  }
}
