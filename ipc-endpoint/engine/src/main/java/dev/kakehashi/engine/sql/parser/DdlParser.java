package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.parser.DdlStatement.Commented;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Parser of the DDL that the engine has: CREATE, ALTER and DROP of TABLE ([TableParser]), INDEX, SEQUENCE, VIEW, SCHEMA; TRUNCATE; COMMENT.
public final class DdlParser {
  private final String sql;
  private final TokenReader in;

  private DdlParser(String sql, List<Token> tokens) {
    this.sql = sql;
    this.in = new TokenReader(sql, tokens, 0);
  }

  /// Whether the statement is DDL.
  public static boolean accepts(List<Token> tokens) {
    Token first = tokens.getFirst();
    return first.isWord("create")
        || first.isWord("drop")
        || first.isWord("truncate")
        || first.isWord("comment")
        || first.isWord("alter");
  }

  public static DdlStatement parse(String sql, List<Token> tokens) {
    DdlParser parser = new DdlParser(sql, tokens);
    DdlStatement statement = parser.statement();
    parser.in.expectEnd();
    return statement;
  }

  private DdlStatement statement() {
    if (in.acceptWords("create", "table")) {
      return new TableParser(sql, in).create();
    }
    if (in.acceptWords("create", "unique", "index")) {
      return new IndexParser(sql, in).create(true);
    }
    if (in.acceptWords("create", "index")) {
      return new IndexParser(sql, in).create(false);
    }
    if (in.acceptWords("create", "schema")) {
      return createSchema();
    }
    if (in.acceptWords("alter", "schema")) {
      String from = in.expectName();
      if (!in.acceptWords("rename", "to")) {
        throw in.notSupported("ALTER SCHEMA ... " + in.peek().text());
      }
      return new DdlStatement.RenameSchema(from, in.expectName());
    }
    if (in.acceptWords("create", "view")) {
      return createView(false);
    }
    if (in.acceptWords("create", "or", "replace", "view")) {
      return createView(true);
    }
    if (in.acceptWords("drop", "view")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<QualifiedName> names = names();
      return new DdlStatement.DropView(names, ifExists, in.cascade());
    }
    if (in.acceptWords("create", "sequence")) {
      boolean ifNotExists = in.acceptWords("if", "not", "exists");
      return new DdlStatement.CreateSequence(
          name(), ifNotExists, new SequenceOptionsParser(in).options(false));
    }
    if (in.acceptWords("alter", "sequence")) {
      boolean ifExists = in.acceptWords("if", "exists");
      QualifiedName name = name();
      DdlStatement named = alterName(false, name, ifExists);
      return named != null
          ? named
          : new DdlStatement.AlterSequence(
              name, ifExists, new SequenceOptionsParser(in).options(true));
    }
    if (in.acceptWords("alter", "view")) {
      boolean ifExists = in.acceptWords("if", "exists");
      QualifiedName name = name();
      DdlStatement named = alterName(true, name, ifExists);
      if (named != null) {
        return named;
      }
      if (!in.acceptWords("rename")) {
        throw in.notSupported("ALTER VIEW ... " + in.peek().text());
      }
      in.acceptWords("column");
      String from = in.expectName();
      in.expectWord("to");
      return new DdlStatement.AlterTable(
          name, ifExists, List.of(new Alteration.RenameColumn(from, in.expectName())));
    }
    if (in.acceptWords("drop", "sequence")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<QualifiedName> names = names();
      return new DdlStatement.DropSequence(names, ifExists, in.cascade());
    }
    if (in.acceptWords("alter", "table")) {
      boolean ifExists = in.acceptWords("if", "exists");
      in.acceptWords("only");
      return new DdlStatement.AlterTable(name(), ifExists, new TableParser(sql, in).alterations());
    }
    if (in.acceptWords("alter", "index")) {
      boolean ifExists = in.acceptWords("if", "exists");
      QualifiedName index = name();
      if (StorageOptions.alterIndex(in)) {
        return new DdlStatement.AlterIndex(index, ifExists);
      }
      in.expectWord("rename");
      in.expectWord("to");
      return new DdlStatement.RenameIndex(index, ifExists, in.expectName());
    }
    if (in.acceptWords("drop", "table")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<QualifiedName> names = names();
      return new DdlStatement.DropTable(names, ifExists, in.cascade());
    }
    if (in.acceptWords("drop", "index")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<QualifiedName> names = names();
      return new DdlStatement.DropIndex(names, ifExists, in.cascade());
    }
    if (in.acceptWords("drop", "schema")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<String> names = new ArrayList<>();
      do {
        names.add(in.expectName());
      } while (in.acceptOperator(","));
      return new DdlStatement.DropSchema(names, ifExists, in.cascade());
    }
    if (in.acceptWords("comment", "on")) {
      return comment();
    }
    if (in.acceptWords("truncate")) {
      in.acceptWords("table");
      in.acceptWords("only");
      List<QualifiedName> names = names();
      boolean restart = in.acceptWords("restart", "identity");
      if (!restart) {
        in.acceptWords("continue", "identity");
      }
      return new DdlStatement.Truncate(names, restart, in.cascade());
    }
    refuseOtherTables();
    throw in.notSupported(in.peek().text() + " " + in.peek(1).text());
  }

  /// CREATE [GLOBAL | LOCAL] TEMPORARY, UNLOGGED.
  private void refuseOtherTables() {
    Token second = in.peek(1);
    boolean scoped = second.isWord("global") || second.isWord("local");
    Token word = scoped ? in.peek(2) : second;
    if (in.peek().isWord("create") && (word.isWord("temp") || word.isWord("temporary"))) {
      throw TokenReader.notSupported(word, "temporary table, view or sequence")
          .withHint("PostgreSQL has its own, and joins them with foreign tables.");
    }
    if (in.peek().isWord("create") && second.isWord("unlogged")) {
      throw TokenReader.notSupported(second, "unlogged table");
    }
  }

  private DdlStatement createSchema() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    if (!in.peek().isWord("authorization")) {
      String name = in.expectName();
      if (in.atEnd() || in.peek().isOperator(";")) {
        return new DdlStatement.CreateSchema(name, ifNotExists);
      }
    }
    boolean owner = in.peek().isWord("authorization");
    if (owner || in.peek().isWord("create") || in.peek().isWord("grant")) {
      throw in.notSupported(
          owner ? "CREATE SCHEMA AUTHORIZATION" : "CREATE SCHEMA with its objects");
    }
    throw in.syntaxError();
  }

  private @Nullable DdlStatement alterName(boolean view, QualifiedName name, boolean ifExists) {
    if (in.acceptWords("rename", "to")) {
      return new DdlStatement.AlterName(view, name, ifExists, in.expectName(), null);
    }
    return in.acceptWords("set", "schema")
        ? new DdlStatement.AlterName(view, name, ifExists, null, in.expectName())
        : null;
  }

  private DdlStatement comment() {
    Token word = in.next();
    Commented kind =
        Arrays.stream(Commented.values())
            .filter(each -> word.isWord(each.name().toLowerCase(Locale.ROOT)))
            .findFirst()
            .orElseThrow(() -> TokenReader.notSupported(word, "COMMENT ON " + word.text()));
    QualifiedName name;
    String part = null;
    if (kind == Commented.SCHEMA) {
      name = new QualifiedName(null, in.expectName(), word.end() + 1);
    } else if (kind == Commented.COLUMN) {
      QualifiedName.Column named = in.columnName("column name must be qualified");
      name = named.table();
      part = named.column();
    } else if (kind == Commented.CONSTRAINT) {
      part = in.expectName();
      in.expectWord("on");
      name = name();
    } else {
      name = name();
    }
    in.expectWord("is");
    if (in.acceptWords("null")) {
      return new DdlStatement.Comment(kind, name, part, null);
    }
    if (in.peek().kind() != Token.Kind.STRING) {
      throw in.syntaxError();
    }
    String text = in.next().text();
    return new DdlStatement.Comment(kind, name, part, text.isEmpty() ? null : text);
  }

  private List<QualifiedName> names() {
    List<QualifiedName> names = new ArrayList<>();
    do {
      names.add(name());
    } while (in.acceptOperator(","));
    return names;
  }

  private QualifiedName name() {
    return in.name();
  }

  private DdlStatement createView(boolean orReplace) {
    QualifiedName name = name();
    List<String> columns = in.peek().isOperator("(") ? in.identifiers() : List.of();
    in.expectWord("as");
    int start = in.peek().start();
    int end = start;
    while (!in.atEnd() && !in.peek().isOperator(";")) {
      end = in.next().end();
    }
    if (end == start) {
      throw in.syntaxError();
    }
    return new DdlStatement.CreateView(name, orReplace, columns, sql.substring(start, end));
  }
}
