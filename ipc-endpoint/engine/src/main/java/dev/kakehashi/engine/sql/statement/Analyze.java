package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// ANALYZE: collects statistics of the tables that are named, or of all. It sees what is committed, and takes effect at once.
public record Analyze(List<Target> targets) implements Prepared {
  /// A table, and those of its columns that are named. The statistics of all columns come from one sample, so that they are all made anew.
  ///
  /// @param position in the statement, from 1
  record Target(QualifiedName table, List<String> columns, int position) {}

  /// The statement, if it is one.
  public static @Nullable Analyze parse(String sql, List<Token> tokens) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    if (!in.acceptWords("analyze")) {
      return null;
    }
    if (in.acceptOperator("(")) {
      do {
        in.expectIdentifier();
        if (!in.peek().isOperator(",") && !in.peek().isOperator(")")) {
          in.next();
        }
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    } else {
      in.acceptWords("verbose");
    }
    List<Target> targets = new ArrayList<>();
    if (in.peek().isIdentifier()) {
      do {
        targets.add(target(in));
      } while (in.acceptOperator(","));
    }
    in.expectEnd();
    return new Analyze(targets);
  }

  private static Target target(TokenReader in) {
    int position = in.peek().start() + 1;
    QualifiedName table = in.name();
    List<String> columns = in.peek().isOperator("(") ? in.identifiers() : List.of();
    return new Target(table, columns, position);
  }

  /// The tables as they are now.
  ///
  /// @throws EngineException UNDEFINED_TABLE, UNDEFINED_COLUMN or WRONG_OBJECT_TYPE
  public List<Table> tables(CatalogSnapshot catalog) {
    if (targets.isEmpty()) {
      return catalog.tables().stream().filter(table -> !table.isSystem()).toList();
    }
    return targets.stream().map(target -> table(catalog, target)).toList();
  }

  private static Table table(CatalogSnapshot catalog, Target target) {
    String schema = target.table.schema();
    String name = target.table.name();
    Table table = catalog.table(schema == null ? CatalogSnapshot.DEFAULT_SCHEMA : schema, name);
    if (table == null) {
      throw new EngineException(
              ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist")
          .withPosition(target.position);
    }
    if (table.isSystem()) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE, "cannot analyze system table \"" + name + "\"");
    }
    for (String column : target.columns) {
      if (table.columnIndex(column) < 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN,
            "column \"" + column + "\" of relation \"" + name + "\" does not exist");
      }
    }
    return table;
  }

  @Override
  public Statement.Kind kind() {
    return Statement.Kind.DDL;
  }
}
