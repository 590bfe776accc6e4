package dev.kakehashi.engine.sql.lexer;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.protocol.ErrorCode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Lists of table names outside of statements.
public final class TableNames {
  private TableNames() {}

  /// The tables of a list such as `orders, archive."Order lines"`.
  ///
  /// @return their tableIds; empty for an empty list
  /// @throws EngineException SYNTAX_ERROR, UNDEFINED_TABLE, or WRONG_OBJECT_TYPE for a table of the system
  public static Set<Long> resolve(String list, CatalogSnapshot catalog) {
    Set<Long> found = new LinkedHashSet<>();
    List<Token> tokens = Lexer.tokenize(list);
    TokenReader in = new TokenReader(list, tokens, 0);
    while (!in.atEnd()) {
      String name = in.expectIdentifier();
      String schema = CatalogSnapshot.DEFAULT_SCHEMA;
      boolean qualified = in.acceptOperator(".");
      if (qualified) {
        schema = name;
        name = in.expectIdentifier();
      }
      Table table = catalog.table(schema, name);
      String shown = qualified ? schema + "." + name : name;
      if (table == null) {
        throw new EngineException(
            ErrorCode.UNDEFINED_TABLE, "relation \"" + shown + "\" does not exist");
      }
      if (table.isSystem()) {
        throw new EngineException(
            ErrorCode.WRONG_OBJECT_TYPE, "\"" + shown + "\" is a system table");
      }
      found.add(table.tableId());
      if (!in.atEnd()) {
        in.expectOperator(",");
        if (in.atEnd()) {
          throw in.syntaxError();
        }
      }
    }
    return found;
  }
}
