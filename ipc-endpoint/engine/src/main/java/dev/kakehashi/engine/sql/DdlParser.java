package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.sql.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.DdlStatement.CheckDefinition;
import dev.kakehashi.engine.sql.DdlStatement.ColumnDefinition;
import dev.kakehashi.engine.sql.DdlStatement.Commented;
import dev.kakehashi.engine.sql.DdlStatement.Constraints;
import dev.kakehashi.engine.sql.DdlStatement.KeyDefinition;
import dev.kakehashi.engine.sql.DdlStatement.Name;
import dev.kakehashi.engine.sql.DdlStatement.SequenceColumn;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parser of the DDL that the engine has: CREATE, ALTER and DROP of TABLE, INDEX, SEQUENCE, VIEW; CREATE and DROP of SCHEMA; TRUNCATE; COMMENT.
final class DdlParser {
  private static final Set<String> COLUMN_CONSTRAINTS =
      Set.of(
          "not",
          "null",
          "primary",
          "unique",
          "default",
          "constraint",
          "check",
          "references",
          "collate",
          "generated");

  private static final Map<String, SqlType> SERIAL_TYPES =
      Map.of(
          "smallserial", SqlType.of(TypeOid.INT2),
          "serial2", SqlType.of(TypeOid.INT2),
          "serial", SqlType.of(TypeOid.INT4),
          "serial4", SqlType.of(TypeOid.INT4),
          "bigserial", SqlType.of(TypeOid.INT8),
          "serial8", SqlType.of(TypeOid.INT8));

  private final String sql;
  private final TokenReader in;

  private DdlParser(String sql, List<Token> tokens) {
    this.sql = sql;
    this.in = new TokenReader(sql, tokens, 0);
  }

  /// Whether the statement is DDL.
  static boolean accepts(List<Token> tokens) {
    Token first = tokens.getFirst();
    return first.isWord("create")
        || first.isWord("drop")
        || first.isWord("truncate")
        || first.isWord("comment")
        || first.isWord("alter");
  }

  static DdlStatement parse(String sql, List<Token> tokens) {
    DdlParser parser = new DdlParser(sql, tokens);
    DdlStatement statement = parser.statement();
    parser.in.expectEnd();
    return statement;
  }

  private DdlStatement statement() {
    if (in.acceptWords("create", "table")) {
      return createTable();
    }
    if (in.acceptWords("create", "unique", "index")) {
      return new IndexParser(in).create(true);
    }
    if (in.acceptWords("create", "index")) {
      return new IndexParser(in).create(false);
    }
    if (in.acceptWords("create", "schema")) {
      boolean ifNotExists = in.acceptWords("if", "not", "exists");
      return new DdlStatement.CreateSchema(in.expectIdentifier(), ifNotExists);
    }
    if (in.acceptWords("create", "view")) {
      return createView(false);
    }
    if (in.acceptWords("create", "or", "replace", "view")) {
      return createView(true);
    }
    if (in.acceptWords("drop", "view")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<Name> names = names();
      return new DdlStatement.DropView(names, ifExists, cascade());
    }
    if (in.acceptWords("create", "sequence")) {
      boolean ifNotExists = in.acceptWords("if", "not", "exists");
      return new DdlStatement.CreateSequence(
          name(), ifNotExists, new SequenceOptionsParser(in).options(false));
    }
    if (in.acceptWords("alter", "sequence")) {
      boolean ifExists = in.acceptWords("if", "exists");
      Name name = name();
      DdlStatement named = alterName(false, name, ifExists);
      return named != null
          ? named
          : new DdlStatement.AlterSequence(
              name, ifExists, new SequenceOptionsParser(in).options(true));
    }
    if (in.acceptWords("alter", "view")) {
      boolean ifExists = in.acceptWords("if", "exists");
      DdlStatement named = alterName(true, name(), ifExists);
      if (named == null) {
        throw in.notSupported("ALTER VIEW ... " + in.peek().text());
      }
      return named;
    }
    if (in.acceptWords("drop", "sequence")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<Name> names = names();
      return new DdlStatement.DropSequence(names, ifExists, cascade());
    }
    if (in.acceptWords("alter", "table")) {
      boolean ifExists = in.acceptWords("if", "exists");
      in.acceptWords("only");
      return new DdlStatement.AlterTable(name(), ifExists, alterations());
    }
    if (in.acceptWords("alter", "index")) {
      boolean ifExists = in.acceptWords("if", "exists");
      Name index = name();
      in.expectWord("rename");
      in.expectWord("to");
      return new DdlStatement.RenameIndex(index, ifExists, in.expectIdentifier());
    }
    if (in.acceptWords("drop", "table")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<Name> names = names();
      return new DdlStatement.DropTable(names, ifExists, cascade());
    }
    if (in.acceptWords("drop", "index")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<Name> names = names();
      return new DdlStatement.DropIndex(names, ifExists, cascade());
    }
    if (in.acceptWords("drop", "schema")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<String> names = new ArrayList<>();
      do {
        names.add(in.expectIdentifier());
      } while (in.acceptOperator(","));
      return new DdlStatement.DropSchema(names, ifExists, cascade());
    }
    if (in.acceptWords("comment", "on")) {
      return comment();
    }
    if (in.acceptWords("truncate")) {
      in.acceptWords("table");
      in.acceptWords("only");
      List<Name> names = names();
      boolean restart = in.acceptWords("restart", "identity");
      if (!restart) {
        in.acceptWords("continue", "identity");
      }
      return new DdlStatement.Truncate(names, restart, cascade());
    }
    throw in.notSupported(in.peek().text() + " " + in.peek(1).text());
  }

  private @Nullable DdlStatement alterName(boolean view, Name name, boolean ifExists) {
    if (in.acceptWords("rename", "to")) {
      return new DdlStatement.AlterName(view, name, ifExists, in.expectIdentifier(), null);
    }
    return in.acceptWords("set", "schema")
        ? new DdlStatement.AlterName(view, name, ifExists, null, in.expectIdentifier())
        : null;
  }

  private DdlStatement comment() {
    Token word = in.next();
    Commented kind =
        Arrays.stream(Commented.values())
            .filter(each -> word.isWord(each.name().toLowerCase(Locale.ROOT)))
            .findFirst()
            .orElseThrow(() -> TokenReader.notSupported(word, "COMMENT ON " + word.text()));
    Name name;
    String column = null;
    if (kind == Commented.SCHEMA) {
      name = new Name(null, in.expectIdentifier(), word.end() + 1);
    } else if (kind == Commented.COLUMN) {
      DdlStatement.ColumnName named = in.columnName("column name must be qualified");
      name = named.table();
      column = named.column();
    } else {
      name = name();
    }
    in.expectWord("is");
    if (in.acceptWords("null")) {
      return new DdlStatement.Comment(kind, name, column, null);
    }
    if (in.peek().kind() != Token.Kind.STRING) {
      throw in.syntaxError();
    }
    StringBuilder text = new StringBuilder();
    while (in.peek().kind() == Token.Kind.STRING) {
      text.append(in.next().text());
    }
    return new DdlStatement.Comment(kind, name, column, text.isEmpty() ? null : text.toString());
  }

  private boolean cascade() {
    if (in.acceptWords("cascade")) {
      return true;
    }
    in.acceptWords("restrict");
    return false;
  }

  private List<Name> names() {
    List<Name> names = new ArrayList<>();
    do {
      names.add(name());
    } while (in.acceptOperator(","));
    return names;
  }

  private Name name() {
    return in.name();
  }

  private DdlStatement createTable() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    Name name = name();
    List<ColumnDefinition> columns = new ArrayList<>();
    Constraints constraints = Constraints.empty();
    in.expectOperator("(");
    if (!in.acceptOperator(")")) {
      do {
        if (!tableConstraint(constraints)) {
          columns.add(column(constraints));
        }
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    }
    return new DdlStatement.CreateTable(name, ifNotExists, columns, constraints);
  }

  private DdlStatement createView(boolean orReplace) {
    Name name = name();
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

  private List<Alteration> alterations() {
    if (in.acceptWords("rename", "to")) {
      return List.of(new Alteration.RenameTable(in.expectIdentifier()));
    }
    if (in.acceptWords("set", "schema")) {
      return List.of(new Alteration.SetSchema(in.expectIdentifier()));
    }
    if (in.acceptWords("rename", "constraint")) {
      String from = in.expectIdentifier();
      in.expectWord("to");
      return List.of(new Alteration.RenameConstraint(from, in.expectIdentifier()));
    }
    if (in.acceptWords("rename")) {
      in.acceptWords("column");
      String from = in.expectIdentifier();
      in.expectWord("to");
      return List.of(new Alteration.RenameColumn(from, in.expectIdentifier()));
    }
    List<Alteration> alterations = new ArrayList<>();
    do {
      alterations.add(alteration());
    } while (in.acceptOperator(","));
    return alterations;
  }

  private Alteration alteration() {
    Constraints constraints = Constraints.empty();
    if (in.acceptWords("add")) {
      if (tableConstraint(constraints)) {
        return new Alteration.AddConstraint(constraints);
      }
      in.acceptWords("column");
      boolean ifNotExists = in.acceptWords("if", "not", "exists");
      return new Alteration.AddColumn(column(constraints), ifNotExists, constraints);
    }
    if (in.acceptWords("drop", "constraint")) {
      boolean ifExists = in.acceptWords("if", "exists");
      String name = in.expectIdentifier();
      return new Alteration.DropConstraint(name, ifExists, cascade());
    }
    if (in.acceptWords("drop")) {
      in.acceptWords("column");
      boolean ifExists = in.acceptWords("if", "exists");
      String name = in.expectIdentifier();
      return new Alteration.DropColumn(name, ifExists, cascade());
    }
    if (in.acceptWords("validate", "constraint")) {
      return new Alteration.ValidateConstraint(in.expectIdentifier());
    }
    if (in.acceptWords("alter", "constraint")) {
      return new Alteration.AlterConstraint(in.expectIdentifier(), ConstraintTiming.parse(in));
    }
    if (in.acceptWords("alter")) {
      in.acceptWords("column");
      return alterColumn(in.expectIdentifier());
    }
    throw in.notSupported("ALTER TABLE ... " + in.peek().text());
  }

  private Alteration alterColumn(String column) {
    Alteration identity = new IdentityParser(in).alteration(column);
    if (identity != null) {
      return identity;
    }
    if (in.acceptWords("set", "default")) {
      return new Alteration.SetDefault(column, expressionText());
    }
    if (in.acceptWords("drop", "default")) {
      return new Alteration.SetDefault(column, null);
    }
    if (in.acceptWords("set", "not", "null")) {
      return new Alteration.SetNotNull(column, true);
    }
    if (in.acceptWords("drop", "not", "null")) {
      return new Alteration.SetNotNull(column, false);
    }
    boolean typed = in.acceptWords("set", "data", "type") || in.acceptWords("type");
    if (!typed) {
      throw in.notSupported("ALTER COLUMN ... " + in.peek().text());
    }
    SqlType type = in.type();
    if (in.acceptWords("collate")) {
      collation();
    }
    return new Alteration.SetType(column, type, in.acceptWords("using") ? expressionText() : null);
  }

  private boolean tableConstraint(Constraints constraints) {
    int save = in.at;
    String name = in.acceptWords("constraint") ? in.expectIdentifier() : null;
    boolean primary = in.acceptWords("primary", "key");
    if (primary || (in.peek().isWord("unique") && in.peek(1).isOperator("("))) {
      if (!primary) {
        in.expectWord("unique");
      }
      constraints.keys().add(new KeyDefinition(name, in.identifiers(), primary));
      ConstraintTiming.refuseDeferrable(in);
      return true;
    }
    if (in.peek().isWord("check") && in.peek(1).isOperator("(")) {
      in.at++;
      constraints.checks().add(new CheckDefinition(name, parenthesised()));
      return true;
    }
    if (in.acceptWords("foreign", "key")) {
      constraints.foreignKeys().add(new ForeignKeyParser(in).parse(name, in.identifiers()));
      return true;
    }
    in.at = save;
    return false;
  }

  private ColumnDefinition column(Constraints constraints) {
    String name = in.expectIdentifier();
    SqlType serial =
        in.peek().kind() == Token.Kind.WORD ? SERIAL_TYPES.get(in.peek().text()) : null;
    SequenceColumn sequence = null;
    if (serial != null) {
      in.at++;
      sequence = new SequenceColumn(Column.Generated.SERIAL, DdlStatement.SequenceOptions.NONE);
    }
    SqlType type = serial != null ? serial : in.type();
    boolean notNull = serial != null;
    String defaultText = null;
    while (in.peek().kind() == Token.Kind.WORD && COLUMN_CONSTRAINTS.contains(in.peek().text())) {
      String constraint = in.acceptWords("constraint") ? in.expectIdentifier() : null;
      Token word = in.next();
      switch (word.text()) {
        case "not" -> {
          in.expectWord("null");
          notNull = true;
        }
        case "null" -> notNull = false;
        case "primary" -> {
          in.expectWord("key");
          constraints.keys().add(new KeyDefinition(constraint, List.of(name), true));
          ConstraintTiming.refuseDeferrable(in);
        }
        case "unique" -> {
          constraints.keys().add(new KeyDefinition(constraint, List.of(name), false));
          ConstraintTiming.refuseDeferrable(in);
        }
        case "check" -> constraints.checks().add(new CheckDefinition(constraint, parenthesised()));
        case "default" -> defaultText = expressionText();
        case "references" ->
            constraints
                .foreignKeys()
                .add(new ForeignKeyParser(in).references(constraint, List.of(name)));
        case "collate" -> collation();
        case "generated" -> {
          sequence = new IdentityParser(in).generated();
          notNull = true;
        }
        default -> throw TokenReader.notSupported(word, word.text() + " constraint");
      }
    }
    return new ColumnDefinition(name, type, notNull, defaultText, sequence);
  }

  /// The expression in parentheses that follows.
  private String parenthesised() {
    in.expectOperator("(");
    int start = in.peek().start();
    int end = start;
    for (int depth = 0; depth > 0 || !in.peek().isOperator(")"); ) {
      Token token = in.next();
      if (token.kind() == Token.Kind.END) {
        throw in.syntaxError();
      }
      depth += token.isOperator("(") ? 1 : token.isOperator(")") ? -1 : 0;
      end = token.end();
    }
    in.expectOperator(")");
    if (end == start) {
      throw in.syntaxError();
    }
    return sql.substring(start, end);
  }

  private void collation() {
    Token token = in.next();
    if (!token.text().equals("C") && !token.text().equals("POSIX")) {
      throw TokenReader.notSupported(token, "collation \"" + token.text() + "\"");
    }
  }

  /// Text up to the end of the column or its next constraint.
  private String expressionText() {
    int start = in.peek().start();
    int end = start;
    int depth = 0;
    while (!in.atEnd()) {
      Token token = in.peek();
      if (depth == 0
          && (token.isOperator(",")
              || token.isOperator(")")
              || (end > start
                  && token.kind() == Token.Kind.WORD
                  && COLUMN_CONSTRAINTS.contains(token.text())
                  && !token.isWord("null")))) {
        break;
      }
      depth += token.isOperator("(") ? 1 : token.isOperator(")") ? -1 : 0;
      end = token.end();
      in.at++;
    }
    if (end == start) {
      throw in.syntaxError();
    }
    return sql.substring(start, end);
  }
}
