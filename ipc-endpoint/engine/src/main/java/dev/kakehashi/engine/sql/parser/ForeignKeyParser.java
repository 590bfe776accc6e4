package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.catalog.ForeignKey.Action;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.DdlStatement.ForeignKeyDefinition;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parser of what follows the columns of a FOREIGN KEY, or the type of a column: REFERENCES ... ON DELETE ... .
final class ForeignKeyParser {
  private final TokenReader in;

  ForeignKeyParser(TokenReader in) {
    this.in = in;
  }

  ForeignKeyDefinition parse(@Nullable String name, List<String> columns) {
    in.expectWord("references");
    return references(name, columns, true);
  }

  /// After REFERENCES of a column.
  ForeignKeyDefinition references(@Nullable String name, List<String> columns) {
    return references(name, columns, false);
  }

  private ForeignKeyDefinition references(
      @Nullable String name, List<String> columns, boolean ofTable) {
    QualifiedName referenced = in.name();
    List<String> referencedColumns = in.peek().isOperator("(") ? in.identifiers() : null;
    boolean full = false;
    Action onUpdate = Action.NO_ACTION;
    Action onDelete = Action.NO_ACTION;
    List<String> setColumns = List.of();
    ConstraintTiming timing = new ConstraintTiming(in);
    boolean notValid = false;
    Set<String> seen = new HashSet<>();
    while (true) {
      if (in.peek().isWord("match")) {
        once(seen, "match");
        in.at++;
        if (in.acceptWords("partial")) {
          throw in.notSupported("MATCH PARTIAL");
        }
        full = in.acceptWords("full");
        if (!full) {
          in.expectWord("simple");
        }
      } else if (in.peek().isWord("on") && in.peek(1).isWord("update")) {
        once(seen, "update");
        in.at += 2;
        onUpdate = action();
        if (in.peek().isOperator("(")) {
          throw in.notSupported("a column list with SET NULL or SET DEFAULT ON UPDATE");
        }
      } else if (in.peek().isWord("on") && in.peek(1).isWord("delete")) {
        once(seen, "delete");
        in.at += 2;
        onDelete = action();
        boolean sets = onDelete == Action.SET_NULL || onDelete == Action.SET_DEFAULT;
        setColumns = sets && in.peek().isOperator("(") ? in.identifiers() : List.of();
      } else if (ofTable && in.acceptWords("not", "valid")) {
        notValid = true;
      } else if (!timing.accept()) {
        return new ForeignKeyDefinition(
            name,
            columns,
            referenced,
            referencedColumns,
            onUpdate,
            onDelete,
            setColumns,
            full,
            timing.result(),
            notValid);
      }
    }
  }

  private void once(Set<String> seen, String clause) {
    if (!seen.add(clause)) {
      throw in.syntaxError();
    }
  }

  private Action action() {
    if (in.acceptWords("no", "action")) {
      return Action.NO_ACTION;
    }
    if (in.acceptWords("restrict")) {
      return Action.RESTRICT;
    }
    if (in.acceptWords("cascade")) {
      return Action.CASCADE;
    }
    if (in.acceptWords("set", "null")) {
      return Action.SET_NULL;
    }
    in.expectWord("set");
    in.expectWord("default");
    return Action.SET_DEFAULT;
  }
}
