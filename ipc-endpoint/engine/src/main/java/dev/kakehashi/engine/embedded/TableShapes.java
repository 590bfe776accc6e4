package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/// Tables that calls have named lately, so that the next call need not read the name and the form again. Thread-safe.
final class TableShapes {
  /// Names that are kept; when there are more, all are forgotten.
  private static final int MOST = 10_000;

  private final Map<String, QualifiedName> names = new ConcurrentHashMap<>();
  private final Map<String, TableShape> shapes = new ConcurrentHashMap<>();

  /// The table or view of a name, as a role may use it.
  ///
  /// @param text as in SQL
  /// @throws EngineException UNDEFINED_TABLE, UNDEFINED_SCHEMA, INSUFFICIENT_PRIVILEGE, SYNTAX_ERROR
  TableShape find(String text, CatalogSnapshot catalog, long role) {
    QualifiedName name = names.get(text);
    if (name == null) {
      name = parse(text);
      if (names.size() >= MOST) {
        names.clear();
        shapes.clear();
      }
      names.put(text, name);
    }
    String schema = Objects.requireNonNullElse(name.schema(), CatalogSnapshot.DEFAULT_SCHEMA);
    if (!catalog.hasSchema(schema)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_SCHEMA, "schema \"" + schema + "\" does not exist");
    }
    new Permissions(catalog, role).requireOnSchema(schema, Privilege.USAGE);
    TableShape known = shapes.get(text);
    if (known != null && known.version() == catalog.version()) {
      return known;
    }
    View view = catalog.view(schema, name.name());
    Table form = view == null ? catalog.table(schema, name.name()) : view.form();
    if (form == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "relation \"" + name.name() + "\" does not exist");
    }
    TableShape shape = TableShape.of(catalog, form, view != null);
    shapes.put(text, shape);
    return shape;
  }

  private static QualifiedName parse(String text) {
    TokenReader in = new TokenReader(text, Lexer.tokenize(text), 0);
    QualifiedName name = in.name();
    in.expectEnd();
    return name;
  }
}
