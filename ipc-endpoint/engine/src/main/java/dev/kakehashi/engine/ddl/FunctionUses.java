package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds what of tables calls functions of applications: defaults, generated columns (those of indexes, too) and checks. Views are bound
/// again instead.
///
/// A text calls a function if it has its name before a parenthesis, without a schema or with the one that is meant. So a built-in function
/// in another schema is no hit.
final class FunctionUses {
  private FunctionUses() {}

  /// Object of which a function is a part.
  ///
  /// @param function its name
  /// @param what as PostgreSQL names it
  record Use(String function, String what) {}

  /// @param schema of the functions
  /// @param names of them
  static List<Use> of(CatalogSnapshot state, String schema, Set<String> names) {
    List<Use> uses = new ArrayList<>();
    if (names.isEmpty()) {
      return uses;
    }
    for (Table table : state.tables()) {
      if (table.isSystem()) {
        continue;
      }
      for (Column column : table.columns()) {
        boolean ofIndex = column.hidden();
        add(
            uses,
            column.generation(),
            schema,
            names,
            (ofIndex ? "an index" : "generated column " + column.name())
                + " of table "
                + table.name());
        add(
            uses,
            column.generation() == null ? column.defaultText() : null,
            schema,
            names,
            "default value for column " + column.name() + " of table " + table.name());
      }
      for (CheckConstraint check : table.checks()) {
        add(
            uses,
            check.text(),
            schema,
            names,
            "constraint " + check.name() + " on table " + table.name());
      }
    }
    return uses;
  }

  private static void add(
      List<Use> uses, @Nullable String text, String schema, Set<String> names, String what) {
    if (text == null) {
      return;
    }
    List<Token> tokens = Lexer.tokenize(text);
    for (int i = 0; i + 1 < tokens.size(); i++) {
      Token name = tokens.get(i);
      if (!name.isIdentifier()
          || !tokens.get(i + 1).isOperator("(")
          || !names.contains(name.text())) {
        continue;
      }
      boolean qualified = i >= 2 && tokens.get(i - 1).isOperator(".");
      String in = qualified ? tokens.get(i - 2).text() : CatalogSnapshot.DEFAULT_SCHEMA;
      if (in.equals(schema)) {
        uses.add(new Use(name.text(), what));
        return;
      }
    }
  }
}
