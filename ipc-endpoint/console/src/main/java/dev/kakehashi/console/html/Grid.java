package dev.kakehashi.console.html;

import dev.kakehashi.rest.sql.TextResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Tables. Stateless.
public final class Grid {
  private Grid() {}

  /// All columns of a result, as they are.
  ///
  /// @param caption what it shows, for who does not see it
  public static Html of(String caption, TextResult result) {
    Html head = new Html();
    for (TextResult.Column column : result.columns()) {
      head.add(
          column.isNumber()
              ? "<th scope=\"col\" class=\"number\" title=\"{}\">{}</th>"
              : "<th scope=\"col\" title=\"{}\">{}</th>",
          column.type(),
          column.name());
    }
    Html body = new Html();
    for (@Nullable String[] row : result.rows()) {
      body.add("<tr>");
      for (int i = 0; i < row.length; i++) {
        body.add("{}", cell(row[i], result.columns().get(i).isNumber()));
      }
      body.add("</tr>\n");
    }
    return framed(caption, head, body, result.rows().isEmpty(), result.columns().size());
  }

  /// A table with rows of its own making.
  ///
  /// @param columns names; one that begins with `#` has numbers
  /// @param rows cells with their tags; empty: nothing is there
  public static Html of(String caption, List<String> columns, Html rows) {
    Html head = new Html();
    for (String column : columns) {
      boolean isNumber = column.startsWith("#");
      head.add(
          isNumber ? "<th scope=\"col\" class=\"number\">{}</th>" : "<th scope=\"col\">{}</th>",
          isNumber ? column.substring(1) : column);
    }
    return framed(caption, head, rows, rows.isEmpty(), columns.size());
  }

  private static Html framed(String caption, Html head, Html rows, boolean isEmpty, int columns) {
    return Html.of(
        """
        <div class="scroll" role="region" aria-label="{}" tabindex="0"><table>
        <thead><tr>{}</tr></thead>
        <tbody>
        {}</tbody>
        </table></div>
        """,
        caption,
        head,
        isEmpty
            ? Html.of("<tr><td class=\"none\" colspan=\"{}\">none</td></tr>\n", columns)
            : rows);
  }

  /// A value.
  public static Html cell(@Nullable String value, boolean isNumber) {
    if (value == null) {
      return isNumber
          ? Html.of("<td class=\"number null\">–</td>")
          : Html.of("<td class=\"null\">–</td>");
    }
    return Html.of(isNumber ? "<td class=\"number\">{}</td>" : "<td>{}</td>", value);
  }

  /// Markup as a value.
  public static Html cell(Html value) {
    return Html.of("<td>{}</td>", value);
  }

  /// A long text, of which a line is seen until it is opened.
  public static Html longCell(@Nullable String value) {
    if (value == null) {
      return cell(null, false);
    }
    int most = 100;
    if (value.length() <= most && value.indexOf('\n') < 0) {
      return Html.of("<td class=\"text\"><code>{}</code></td>", value);
    }
    String line = value.strip().replaceAll("\\s+", " ");
    return Html.of(
        "<td class=\"text\"><details><summary><code>{}</code></summary><pre>{}</pre></details></td>",
        line.length() <= most ? line : line.substring(0, most) + "…",
        value);
  }
}
