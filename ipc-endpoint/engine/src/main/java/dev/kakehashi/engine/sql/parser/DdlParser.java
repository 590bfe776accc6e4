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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Parser of the DDL that the engine has: CREATE, ALTER and DROP of TABLE ([TableParser]), INDEX, SEQUENCE, VIEW, SCHEMA; TRUNCATE;
/// COMMENT; roles ([RoleParser]), rights ([GrantParser]), queues ([QueueParser]) and applications ([ApplicationParser]).
public final class DdlParser {
  /// A statement by its first words.
  ///
  /// @param rest reads what follows them
  private record Form(String[] words, Function<DdlParser, DdlStatement> rest) {
    static Form of(String words, Function<DdlParser, DdlStatement> rest) {
      return new Form(words.split(" ", -1), rest);
    }
  }

  /// A statement that drops what has names with schemas.
  private interface Drop {
    DdlStatement of(List<QualifiedName> names, boolean ifExists, boolean cascade);
  }

  private static final List<Form> FORMS =
      List.of(
          Form.of("create table", ddl -> new TableParser(ddl.sql, ddl.in).create()),
          Form.of("create unique index", ddl -> new IndexParser(ddl.sql, ddl.in).create(true)),
          Form.of("create index", ddl -> new IndexParser(ddl.sql, ddl.in).create(false)),
          Form.of("create schema", DdlParser::createSchema),
          Form.of("create view", ddl -> ddl.createView(false)),
          Form.of("create or replace view", ddl -> ddl.createView(true)),
          Form.of("create sequence", DdlParser::createSequence),
          Form.of("alter schema", DdlParser::alterSchema),
          Form.of("alter sequence", DdlParser::alterSequence),
          Form.of("alter view", DdlParser::alterView),
          Form.of("alter table", DdlParser::alterTable),
          Form.of("alter index", DdlParser::alterIndex),
          Form.of("drop view", ddl -> ddl.drop(DdlStatement.DropView::new)),
          Form.of("drop sequence", ddl -> ddl.drop(DdlStatement.DropSequence::new)),
          Form.of("drop table", ddl -> ddl.drop(DdlStatement.DropTable::new)),
          Form.of("drop index", ddl -> ddl.drop(DdlStatement.DropIndex::new)),
          Form.of("drop schema", DdlParser::dropSchema),
          Form.of("create role", ddl -> rights(ddl.roles().create(false))),
          Form.of("create user", DdlParser::createUser),
          Form.of("create group", ddl -> rights(ddl.roles().create(false))),
          Form.of("alter role", ddl -> rights(ddl.roles().alter())),
          Form.of("alter user", ddl -> rights(ddl.roles().alter())),
          Form.of("alter group", ddl -> rights(ddl.roles().alterGroup())),
          Form.of("drop role", ddl -> rights(ddl.roles().drop())),
          Form.of("drop user", ddl -> rights(ddl.roles().drop())),
          Form.of("drop group", ddl -> rights(ddl.roles().drop())),
          Form.of("drop owned by", ddl -> rights(ddl.roles().dropOwned())),
          Form.of("reassign owned by", ddl -> rights(ddl.roles().reassignOwned())),
          Form.of("grant", ddl -> rights(new GrantParser(ddl.in).grant())),
          Form.of("revoke", ddl -> rights(new GrantParser(ddl.in).revoke())),
          Form.of("alter default privileges", ddl -> rights(new GrantParser(ddl.in).defaults())),
          Form.of("alter database", DdlParser::alterDatabase),
          Form.of("create queue", ddl -> queue(ddl.queues().create())),
          Form.of("alter queue", DdlParser::alterQueue),
          Form.of("drop queue", ddl -> queue(ddl.queues().drop())),
          Form.of("create subscription group", ddl -> queue(ddl.queues().createGroup())),
          Form.of("drop subscription group", ddl -> queue(ddl.queues().dropGroup())),
          Form.of("purge queue", ddl -> queue(ddl.queues().purge())),
          Form.of("move", ddl -> queue(ddl.queues().move())),
          Form.of("create application", ddl -> application(ddl.applications().create())),
          Form.of("alter application", DdlParser::alterApplication),
          Form.of("drop application", ddl -> application(ddl.applications().drop())),
          Form.of("comment on", DdlParser::comment),
          Form.of("truncate", DdlParser::truncate));

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
        || first.isWord("alter")
        || first.isWord("grant")
        || first.isWord("revoke")
        || first.isWord("reassign")
        || first.isWord("purge")
        || first.isWord("move");
  }

  public static DdlStatement parse(String sql, List<Token> tokens) {
    DdlParser parser = new DdlParser(sql, tokens);
    DdlStatement statement = parser.statement();
    parser.in.expectEnd();
    return statement;
  }

  private DdlStatement statement() {
    for (Form form : FORMS) {
      if (in.acceptWords(form.words)) {
        return form.rest.apply(this);
      }
    }
    refuseOtherTables();
    throw in.notSupported(in.peek().text() + " " + in.peek(1).text());
  }

  private static DdlStatement rights(RightsStatement statement) {
    return new DdlStatement.OfRights(statement);
  }

  private static DdlStatement queue(QueueStatement statement) {
    return new DdlStatement.OfQueue(statement);
  }

  private QueueParser queues() {
    return new QueueParser(in);
  }

  private DdlStatement alterQueue() {
    return queues().alter((name, ifExists) -> ownerTo(RightsStatement.Owned.QUEUE, name, ifExists));
  }

  private static DdlStatement application(ApplicationStatement statement) {
    return new DdlStatement.OfApplication(statement);
  }

  private ApplicationParser applications() {
    return new ApplicationParser(in);
  }

  private DdlStatement alterApplication() {
    return applications()
        .alter((name, ifExists) -> ownerTo(RightsStatement.Owned.APPLICATION, name, ifExists));
  }

  private RoleParser roles() {
    return new RoleParser(in);
  }

  private DdlStatement createUser() {
    if (in.peek().isWord("mapping")) {
      throw in.notSupported("CREATE USER MAPPING");
    }
    return rights(roles().create(true));
  }

  private DdlStatement alterDatabase() {
    QualifiedName name = new QualifiedName(null, in.expectName(), in.peek().start() + 1);
    DdlStatement owned = ownerTo(RightsStatement.Owned.DATABASE, name, false);
    if (owned == null) {
      throw in.notSupported("ALTER DATABASE ... " + in.peek().text());
    }
    return owned;
  }

  /// OWNER TO; null: something else follows.
  private @Nullable DdlStatement ownerTo(
      RightsStatement.Owned kind, QualifiedName name, boolean ifExists) {
    return in.acceptWords("owner", "to")
        ? rights(new RightsStatement.OwnerTo(kind, name, ifExists, roles().roleName()))
        : null;
  }

  private DdlStatement createSequence() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    return new DdlStatement.CreateSequence(
        in.name(), ifNotExists, new SequenceOptionsParser(in).options(false));
  }

  private DdlStatement alterSchema() {
    int position = in.peek().start() + 1;
    String from = in.expectName();
    DdlStatement owned =
        ownerTo(RightsStatement.Owned.SCHEMA, new QualifiedName(null, from, position), false);
    if (owned != null) {
      return owned;
    }
    if (!in.acceptWords("rename", "to")) {
      throw in.notSupported("ALTER SCHEMA ... " + in.peek().text());
    }
    return new DdlStatement.RenameSchema(from, in.expectName());
  }

  private DdlStatement alterSequence() {
    boolean ifExists = ifExists();
    QualifiedName name = in.name();
    DdlStatement named = alterName(false, name, ifExists);
    if (named == null) {
      named = ownerTo(RightsStatement.Owned.SEQUENCE, name, ifExists);
    }
    return named != null
        ? named
        : new DdlStatement.AlterSequence(
            name, ifExists, new SequenceOptionsParser(in).options(true));
  }

  private DdlStatement alterView() {
    boolean ifExists = ifExists();
    QualifiedName name = in.name();
    DdlStatement named = alterName(true, name, ifExists);
    if (named == null) {
      named = ownerTo(RightsStatement.Owned.VIEW, name, ifExists);
    }
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

  private DdlStatement alterTable() {
    boolean ifExists = ifExists();
    in.acceptWords("only");
    QualifiedName name = in.name();
    DdlStatement owned = ownerTo(RightsStatement.Owned.TABLE, name, ifExists);
    return owned != null
        ? owned
        : new DdlStatement.AlterTable(name, ifExists, new TableParser(sql, in).alterations());
  }

  private DdlStatement alterIndex() {
    boolean ifExists = ifExists();
    QualifiedName index = in.name();
    if (StorageOptions.alterIndex(in)) {
      return new DdlStatement.AlterIndex(index, ifExists);
    }
    in.expectWord("rename");
    in.expectWord("to");
    return new DdlStatement.RenameIndex(index, ifExists, in.expectName());
  }

  private DdlStatement drop(Drop drop) {
    boolean ifExists = ifExists();
    List<QualifiedName> names = names();
    return drop.of(names, ifExists, in.cascade());
  }

  private DdlStatement dropSchema() {
    boolean ifExists = ifExists();
    List<String> names = new ArrayList<>();
    do {
      names.add(in.expectName());
    } while (in.acceptOperator(","));
    return new DdlStatement.DropSchema(names, ifExists, in.cascade());
  }

  private DdlStatement truncate() {
    in.acceptWords("table");
    in.acceptWords("only");
    List<QualifiedName> names = names();
    boolean restart = in.acceptWords("restart", "identity");
    if (!restart) {
      in.acceptWords("continue", "identity");
    }
    return new DdlStatement.Truncate(names, restart, in.cascade());
  }

  private boolean ifExists() {
    return in.acceptWords("if", "exists");
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
    String name = in.peek().isWord("authorization") ? null : in.expectName();
    RightsStatement.RoleName owner = null;
    if (in.acceptWords("authorization")) {
      owner = roles().roleName();
    }
    if (in.peek().isWord("create") || in.peek().isWord("grant")) {
      throw in.notSupported("CREATE SCHEMA with its objects");
    }
    if (owner != null && owner.word() != null && name == null) {
      throw in.notSupported("CREATE SCHEMA AUTHORIZATION without a name");
    }
    return new DdlStatement.CreateSchema(
        name != null ? name : java.util.Objects.requireNonNull(owner).name(), ifNotExists, owner);
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
    if (kind == Commented.SCHEMA || kind == Commented.ROLE) {
      name = new QualifiedName(null, in.expectName(), word.end() + 1);
    } else if (kind == Commented.COLUMN) {
      QualifiedName.Column named = in.columnName("column name must be qualified");
      name = named.table();
      part = named.column();
    } else if (kind == Commented.CONSTRAINT) {
      part = in.expectName();
      in.expectWord("on");
      name = in.name();
    } else {
      name = in.name();
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
      names.add(in.name());
    } while (in.acceptOperator(","));
    return names;
  }

  private DdlStatement createView(boolean orReplace) {
    QualifiedName name = in.name();
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
