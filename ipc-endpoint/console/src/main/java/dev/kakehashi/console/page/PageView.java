package dev.kakehashi.console.page;

import dev.kakehashi.console.access.Visitor;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.sql.TextQueries;
import dev.kakehashi.rest.sql.TextResult;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One visitor's look at one page: runs its statements in his name, and keeps their texts for the foot. One thread.
final class PageView {
  /// Rows of one table of a page.
  static final int MAX_ROWS = 500;

  private static final TextQueries.Limits LIMITS =
      new TextQueries.Limits(MAX_ROWS, 4_000, 4L << 20, 10_000_000_000L);

  private final Visitor visitor;
  private final TextQueries queries;
  private final Map<String, String> parameters;
  private final Consumer<Runnable> canceler;
  private final Set<String> statements = new LinkedHashSet<>();

  /// @param canceler gets how to cancel what runs
  PageView(
      Visitor visitor,
      TextQueries queries,
      Map<String, String> parameters,
      Consumer<Runnable> canceler) {
    this.visitor = visitor;
    this.queries = queries;
    this.parameters = parameters;
    this.canceler = canceler;
  }

  Visitor visitor() {
    return visitor;
  }

  /// A parameter of the page's address.
  ///
  /// @return empty: it was not given
  String parameter(String name) {
    return parameters.getOrDefault(name, "");
  }

  /// Rows of a statement.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException why there are none
  TextResult query(String sql, @Nullable String... values) {
    statements.add(sql.strip());
    return queries.run(visitor.user(), sql, Arrays.asList(values), LIMITS, canceler);
  }

  /// Receiver of the call that cancels what runs.
  Consumer<Runnable> canceler() {
    return canceler;
  }

  /// The field that each form has.
  Html csrf() {
    return Html.of("<input type=\"hidden\" name=\"csrf\" value=\"{}\">", visitor.csrf());
  }

  /// The statements that the page is made of.
  Html foot() {
    if (statements.isEmpty()) {
      return new Html();
    }
    Html foot =
        Html.of(
            "<details class=\"sql\"><summary>SQL of this page ({})</summary>\n", statements.size());
    for (String statement : statements) {
      foot.add("<pre><code>{};</code></pre>\n", statement);
    }
    return foot.add("</details>\n");
  }
}
