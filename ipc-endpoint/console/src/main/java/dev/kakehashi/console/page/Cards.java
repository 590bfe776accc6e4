package dev.kakehashi.console.page;

import dev.kakehashi.console.html.Html;
import org.jspecify.annotations.Nullable;

/// Figures side by side. One thread.
final class Cards {
  private final Html html = new Html();

  /// @param value null: none
  /// @param note below it; empty: nothing
  Cards add(String name, @Nullable Object value, String note) {
    html.add("<div><dt>{}</dt><dd>{}", name, value == null ? "–" : value);
    if (!note.isEmpty()) {
      html.add("<small>{}</small>", note);
    }
    html.add("</dd></div>\n");
    return this;
  }

  Html html() {
    return Html.of("<dl class=\"cards\">\n{}</dl>\n", html);
  }
}
