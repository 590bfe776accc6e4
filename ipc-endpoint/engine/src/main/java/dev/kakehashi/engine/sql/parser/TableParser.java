package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.parser.DdlStatement.CheckDefinition;
import dev.kakehashi.engine.sql.parser.DdlStatement.ColumnDefinition;
import dev.kakehashi.engine.sql.parser.DdlStatement.Constraints;
import dev.kakehashi.engine.sql.parser.DdlStatement.KeyDefinition;
import dev.kakehashi.engine.sql.parser.DdlStatement.LikeOption;
import dev.kakehashi.engine.type.SqlType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Parser of CREATE TABLE and of the actions of ALTER TABLE.
final class TableParser {
  /// First words of what ALTER TABLE does in PostgreSQL and not here.
  private static final Set<String> OTHER_ACTIONS =
      Set.of(
          "attach", "cluster", "detach", "disable", "enable", "force", "inherit", "no", "not", "of",
          "options", "owner", "replica", "reset", "set");

  private final String sql;
  private final TokenReader in;

  /// Whether the table is there already.
  private boolean altering;

  TableParser(String sql, TokenReader in) {
    this.sql = sql;
    this.in = in;
  }

  /// CREATE TABLE, after these words.
  DdlStatement create() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    QualifiedName name = in.name();
    if (in.peek().isWord("as") || namesOnly()) {
      List<String> names = in.peek().isWord("as") ? List.of() : in.identifiers();
      return createAs(name, ifNotExists, names);
    }
    List<ColumnDefinition> columns = new ArrayList<>();
    List<DdlStatement.Like> likes = new ArrayList<>();
    Constraints constraints = Constraints.empty();
    in.expectOperator("(");
    if (!in.acceptOperator(")")) {
      do {
        if (in.acceptWords("like")) {
          likes.add(like(columns.size()));
        } else if (!tableConstraint(constraints)) {
          columns.add(column(constraints));
        }
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    }
    StorageOptions.ofTable(in);
    return new DdlStatement.CreateTable(name, ifNotExists, columns, constraints, likes);
  }

  /// Whether names of columns without types follow, as they do before AS.
  private boolean namesOnly() {
    return in.peek().isOperator("(")
        && in.peek(1).isIdentifier()
        && (in.peek(2).isOperator(",") || in.peek(2).isOperator(")"));
  }

  private DdlStatement createAs(QualifiedName name, boolean ifNotExists, List<String> columns) {
    in.expectWord("as");
    int start = in.peek().start();
    int end = start;
    Boolean data = null;
    while (!in.atEnd() && !in.peek().isOperator(";")) {
      boolean none = in.acceptWords("with", "no", "data");
      if (none || in.acceptWords("with", "data")) {
        data = !none;
        break;
      }
      end = in.next().end();
    }
    if (end == start) {
      throw in.syntaxError();
    }
    return new DdlStatement.CreateTableAs(
        name, ifNotExists, columns, sql.substring(start, end), start, data == null || data);
  }

  /// @param position of the columns among those of the table
  private DdlStatement.Like like(int position) {
    QualifiedName source = in.name();
    Set<LikeOption> options = EnumSet.noneOf(LikeOption.class);
    while (true) {
      boolean including = in.acceptWords("including");
      if (!including && !in.acceptWords("excluding")) {
        return new DdlStatement.Like(position, source, options);
      }
      Token word = in.next();
      Set<LikeOption> named = EnumSet.allOf(LikeOption.class);
      named.removeIf(
          option -> !word.isWord("all") && !word.isWord(option.name().toLowerCase(Locale.ROOT)));
      if (named.isEmpty()) {
        throw TokenReader.syntaxErrorAt(sql, word);
      }
      if (including) {
        options.addAll(named);
      } else {
        options.removeAll(named);
      }
    }
  }

  /// The actions of ALTER TABLE.
  List<Alteration> alterations() {
    altering = true;
    if (in.acceptWords("rename", "to")) {
      return List.of(new Alteration.RenameTable(in.expectName()));
    }
    if (in.acceptWords("set", "schema")) {
      return List.of(new Alteration.SetSchema(in.expectName()));
    }
    if (in.acceptWords("rename", "constraint")) {
      String from = in.expectName();
      in.expectWord("to");
      return List.of(new Alteration.RenameConstraint(from, in.expectName()));
    }
    if (in.acceptWords("rename")) {
      in.acceptWords("column");
      String from = in.expectName();
      in.expectWord("to");
      return List.of(new Alteration.RenameColumn(from, in.expectName()));
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
      String name = in.expectName();
      return new Alteration.DropConstraint(name, ifExists, in.cascade());
    }
    if (in.acceptWords("drop")) {
      in.acceptWords("column");
      boolean ifExists = in.acceptWords("if", "exists");
      String name = in.expectName();
      return new Alteration.DropColumn(name, ifExists, in.cascade());
    }
    if (in.acceptWords("validate", "constraint")) {
      return new Alteration.ValidateConstraint(in.expectName());
    }
    if (in.acceptWords("alter", "constraint")) {
      return new Alteration.AlterConstraint(in.expectName(), ConstraintTiming.parse(in));
    }
    if (in.acceptWords("alter")) {
      in.acceptWords("column");
      return alterColumn(in.expectName());
    }
    if (StorageOptions.alterTable(in)) {
      return new Alteration.Storage(null);
    }
    if (!OTHER_ACTIONS.contains(in.peek().text())) {
      throw in.syntaxError();
    }
    throw in.notSupported("ALTER TABLE ... " + in.peek().text());
  }

  private Alteration alterColumn(String column) {
    Alteration identity = new IdentityParser(in).alteration(column);
    if (identity != null) {
      return identity;
    }
    if (in.acceptWords("set", "default")) {
      return new Alteration.SetDefault(column, in.rest(","));
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
    if (in.acceptWords("drop", "expression")) {
      return new Alteration.DropExpression(column, in.acceptWords("if", "exists"));
    }
    if (StorageOptions.alterColumn(in)) {
      return new Alteration.Storage(column);
    }
    boolean typed = in.acceptWords("set", "data", "type") || in.acceptWords("type");
    if (!typed) {
      if (!in.peek().isWord("set") && !in.peek().isWord("reset")) {
        throw in.syntaxError();
      }
      throw in.notSupported("ALTER COLUMN ... " + in.peek().text());
    }
    SqlType type = in.type();
    ColumnParser.acceptCollation(in, type);
    return new Alteration.SetType(column, type, in.acceptWords("using") ? in.rest(",") : null);
  }

  /// Takes what may follow CHECK. There is no inheritance here, so that NO INHERIT says nothing.
  ///
  /// @return whether rows need not fulfil it; those of a table that is made do, as it has none
  private boolean acceptNotValid() {
    boolean notValid = false;
    boolean more;
    do {
      more = in.acceptWords("no", "inherit");
      if (in.acceptWords("not", "valid")) {
        notValid = altering;
        more = true;
      }
    } while (more);
    if (in.peek().isWord("deferrable") || in.peek().isWord("initially")) {
      throw TokenReader.notSupported(in.peek(), "CHECK constraint that is DEFERRABLE");
    }
    return notValid;
  }

  private boolean tableConstraint(Constraints constraints) {
    int save = in.at;
    String name = in.acceptWords("constraint") ? in.expectName() : null;
    boolean primary = in.acceptWords("primary", "key");
    if (primary
        || (in.peek().isWord("unique")
            && (in.peek(1).isOperator("(")
                || in.peek(1).isWord("using")
                || in.peek(1).isWord("nulls")))) {
      if (!primary) {
        in.expectWord("unique");
      }
      Token at = in.peek();
      boolean nulls = !primary && at.isWord("nulls");
      boolean nullsNotDistinct = nulls && IndexParser.nullsNotDistinct(in);
      String index = !nulls && in.acceptWords("using", "index") ? in.expectName() : null;
      List<String> columns = index == null ? in.identifiers() : List.of();
      StorageOptions.ofIndex(in);
      ForeignKey.Timing timing = ConstraintTiming.parse(in);
      if (index != null && timing != ForeignKey.Timing.NOT_DEFERRABLE) {
        throw TokenReader.notSupported(at, "deferrable constraint USING INDEX");
      }
      if (in.peek().isWord("not") && in.peek(1).isWord("valid")) {
        throw in.notSupported("key that is NOT VALID");
      }
      constraints
          .keys()
          .add(new KeyDefinition(name, columns, primary, nullsNotDistinct, index, timing));
      return true;
    }
    if (in.peek().isWord("check") && in.peek(1).isOperator("(")) {
      in.at++;
      String condition = in.parenthesised();
      constraints.checks().add(new CheckDefinition(name, condition, acceptNotValid()));
      return true;
    }
    if (in.acceptWords("foreign", "key")) {
      constraints.foreignKeys().add(new ForeignKeyParser(in).parse(name, in.identifiers()));
      return true;
    }
    if (in.peek().isWord("exclude") && (in.peek(1).isOperator("(") || in.peek(1).isWord("using"))) {
      throw in.notSupported("EXCLUDE constraint");
    }
    in.at = save;
    return false;
  }

  private ColumnDefinition column(Constraints constraints) {
    return new ColumnParser(sql, in, constraints).column();
  }
}
