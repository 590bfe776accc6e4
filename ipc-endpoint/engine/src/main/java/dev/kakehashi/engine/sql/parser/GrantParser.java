package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.RightsStatement.Granted;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.engine.sql.parser.RightsStatement.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parses GRANT, REVOKE and ALTER DEFAULT PRIVILEGES.
final class GrantParser {
  /// Kinds of PostgreSQL's objects that the engine does not have, by their first word.
  private static final Set<String> OTHERS =
      Set.of(
          "domain",
          "foreign",
          "language",
          "large",
          "parameter",
          "routine",
          "routines",
          "tablespace",
          "type",
          "types");

  private final TokenReader in;
  private final RoleParser roles;

  GrantParser(TokenReader in) {
    this.in = in;
    this.roles = new RoleParser(in);
  }

  /// Objects that privileges are granted on.
  private record Target(ObjectKind kind, List<QualifiedName> names, boolean inSchemas) {}

  RightsStatement grant() {
    List<Word> words = words();
    if (in.acceptWords("to")) {
      return grantRoles(words);
    }
    in.expectWord("on");
    Target target = target();
    return new RightsStatement.Grant(
        target.kind, target.names, target.inSchemas, granted(words, true));
  }

  RightsStatement revoke() {
    boolean admin = in.acceptWords("admin", "option", "for");
    boolean option = !admin && in.acceptWords("grant", "option", "for");
    List<Word> words = words();
    if (!option && in.acceptWords("from")) {
      List<RoleName> members = roles.roleNames();
      RoleName by = by();
      in.cascade();
      return new RightsStatement.GrantRole(false, names(words), members, admin, by);
    }
    if (admin) {
      throw in.syntaxError();
    }
    in.expectWord("on");
    Target target = target();
    return new RightsStatement.Grant(
        target.kind, target.names, target.inSchemas, revoked(words, option, true));
  }

  private RightsStatement grantRoles(List<Word> words) {
    List<RoleName> members = roles.roleNames();
    boolean admin = in.acceptWords("with", "admin", "option");
    return new RightsStatement.GrantRole(true, names(words), members, admin, by());
  }

  private List<String> names(List<Word> words) {
    if (words.stream().anyMatch(word -> !word.columns().isEmpty())) {
      throw in.notSupported("a list of columns of a role");
    }
    return words.stream().map(Word::word).toList();
  }

  RightsStatement defaults() {
    List<RoleName> makers = List.of();
    List<String> schemas = new ArrayList<>();
    while (true) {
      if (in.acceptWords("for", "role") || in.acceptWords("for", "user")) {
        makers = roles.roleNames();
      } else if (in.acceptWords("in", "schema")) {
        do {
          schemas.add(in.expectName());
        } while (in.acceptOperator(","));
      } else {
        break;
      }
    }
    boolean grant = in.acceptWords("grant");
    if (!grant) {
      in.expectWord("revoke");
    }
    boolean option = !grant && in.acceptWords("grant", "option", "for");
    List<Word> words = words();
    in.expectWord("on");
    Token word = in.next();
    ObjectKind kind =
        switch (word.text()) {
          case "tables" -> ObjectKind.TABLE;
          case "sequences" -> ObjectKind.SEQUENCE;
          case "queues" -> ObjectKind.QUEUE;
          case "applications", "functions" -> ObjectKind.APPLICATION;
          case "schemas" -> ObjectKind.SCHEMA;
          default -> {
            in.at--;
            throw OTHERS.contains(word.text())
                ? in.notSupported(
                    "ALTER DEFAULT PRIVILEGES ON " + word.text().toUpperCase(Locale.ROOT))
                : in.syntaxError();
          }
        };
    return new RightsStatement.AlterDefaults(
        makers, schemas, kind, grant ? granted(words, false) : revoked(words, option, false));
  }

  private Granted granted(List<Word> words, boolean by) {
    in.expectWord("to");
    List<RoleName> grantees = grantees();
    boolean option = in.acceptWords("with", "grant", "option");
    return new Granted(true, words, grantees, option, false, by ? by() : null);
  }

  private Granted revoked(List<Word> words, boolean option, boolean by) {
    in.expectWord("from");
    List<RoleName> grantees = grantees();
    RoleName grantor = by ? by() : null;
    return new Granted(false, words, grantees, option, in.cascade(), grantor);
  }

  private List<RoleName> grantees() {
    List<RoleName> grantees = new ArrayList<>();
    do {
      in.acceptWords("group");
      grantees.add(roles.roleName());
    } while (in.acceptOperator(","));
    return grantees;
  }

  private @Nullable RoleName by() {
    return in.acceptWords("granted", "by") ? roles.roleName() : null;
  }

  /// Privileges, or names of roles.
  private List<Word> words() {
    List<Word> words = new ArrayList<>();
    do {
      Token word = in.peek();
      if (!word.isIdentifier()) {
        throw in.syntaxError();
      }
      in.next();
      if (word.isWord("all")) {
        in.acceptWords("privileges");
      }
      List<String> columns = in.peek().isOperator("(") ? in.identifiers() : List.of();
      words.add(new Word(word.text(), columns));
    } while (in.acceptOperator(","));
    return words;
  }

  private Target target() {
    if (in.acceptWords("all", "tables", "in", "schema")) {
      return new Target(ObjectKind.TABLE, schemas(), true);
    }
    if (in.acceptWords("all", "sequences", "in", "schema")) {
      return new Target(ObjectKind.SEQUENCE, schemas(), true);
    }
    if (in.acceptWords("all", "queues", "in", "schema")) {
      return new Target(ObjectKind.QUEUE, schemas(), true);
    }
    if (in.acceptWords("all", "functions", "in", "schema")) {
      return new Target(ObjectKind.FUNCTION, schemas(), true);
    }
    if (in.acceptWords("all", "procedures", "in", "schema")) {
      return new Target(ObjectKind.PROCEDURE, schemas(), true);
    }
    if (in.acceptWords("all", "applications", "in", "schema")) {
      return new Target(ObjectKind.APPLICATION, schemas(), true);
    }
    if (in.acceptWords("schema")) {
      return new Target(ObjectKind.SCHEMA, schemas(), false);
    }
    if (in.acceptWords("database")) {
      return new Target(ObjectKind.DATABASE, schemas(), false);
    }
    if (in.peek().isWord("location") && in.peek(1).isIdentifier()) {
      in.next();
      return new Target(ObjectKind.LOCATION, schemas(), false);
    }
    if (in.peek().isWord("queue") && in.peek(1).isIdentifier()) {
      in.next();
      return new Target(ObjectKind.QUEUE, relations(), false);
    }
    if (in.peek().isWord("application") && in.peek(1).isIdentifier()) {
      in.next();
      return new Target(ObjectKind.APPLICATION, relations(), false);
    }
    if (in.peek().isWord("function") && in.peek(1).isIdentifier()) {
      in.next();
      return new Target(ObjectKind.FUNCTION, routines(), false);
    }
    if (in.peek().isWord("procedure") && in.peek(1).isIdentifier()) {
      in.next();
      return new Target(ObjectKind.PROCEDURE, routines(), false);
    }
    boolean sequence = in.acceptWords("sequence");
    Token next = in.peek().isWord("all") ? in.peek(1) : in.peek();
    if (!sequence
        && next.kind() == Token.Kind.WORD
        && OTHERS.contains(next.text())
        && (in.peek().isWord("all") || in.peek(1).isIdentifier())) {
      throw in.notSupported("GRANT ON " + next.text().toUpperCase(Locale.ROOT));
    }
    if (!sequence) {
      in.acceptWords("table");
    }
    return new Target(sequence ? ObjectKind.SEQUENCE : ObjectKind.TABLE, relations(), false);
  }

  private List<QualifiedName> relations() {
    List<QualifiedName> names = new ArrayList<>();
    do {
      names.add(in.name());
    } while (in.acceptOperator(","));
    return names;
  }

  /// Names with or without types of parameters, which say nothing: what is granted is granted by name.
  private List<QualifiedName> routines() {
    List<QualifiedName> names = new ArrayList<>();
    do {
      names.add(in.name());
      if (in.acceptOperator("(")) {
        while (!in.acceptOperator(")")) {
          if (in.peek().kind() == Token.Kind.END) {
            throw in.syntaxError();
          }
          in.next();
        }
      }
    } while (in.acceptOperator(","));
    return names;
  }

  private List<QualifiedName> schemas() {
    List<QualifiedName> names = new ArrayList<>();
    do {
      int position = in.peek().start() + 1;
      names.add(new QualifiedName(null, in.expectName(), position));
    } while (in.acceptOperator(","));
    return names;
  }
}
