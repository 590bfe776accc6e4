package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.ApplicationStatement.Change;
import dev.kakehashi.engine.sql.parser.ApplicationStatement.JarSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Parser of statements about native applications, after their first words.
final class ApplicationParser {
  private static final int MOST_DIGITS = 9;

  /// As many jars as an application may have.
  private static final int MOST_PARAMETERS = 64;

  private final TokenReader in;

  ApplicationParser(TokenReader in) {
    this.in = in;
  }

  ApplicationStatement create() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    QualifiedName name = in.name();
    in.expectWord("from");
    List<JarSource> jars = jars();
    return new ApplicationStatement.CreateApplication(name, ifNotExists, jars, with());
  }

  /// WITH and its options, or nothing.
  private List<QueueStatement.Option> with() {
    return in.acceptWords("with") ? new QueueParser(in).options() : List.of();
  }

  private List<JarSource> jars() {
    List<JarSource> jars = new ArrayList<>();
    do {
      jars.add(jar());
    } while (in.acceptOperator(","));
    return jars;
  }

  private JarSource jar() {
    if (in.peek().kind() == Token.Kind.PARAMETER) {
      int number = number(in.next());
      if (number < 1 || number > MOST_PARAMETERS) {
        in.at--;
        throw in.syntaxError();
      }
      return new JarSource.Parameter(number, as());
    }
    boolean literal = in.acceptWords("bytea");
    String text = string();
    if (!literal) {
      return new JarSource.Location(text);
    }
    if (!text.startsWith("\\x")) {
      in.at--;
      throw in.syntaxError();
    }
    return new JarSource.Literal(text.substring(2), as());
  }

  private @Nullable String as() {
    return in.acceptWords("as") ? string() : null;
  }

  private String string() {
    if (in.peek().kind() != Token.Kind.STRING) {
      throw in.syntaxError();
    }
    return in.next().text();
  }

  private int number(Token token) {
    boolean digits = token.text().chars().allMatch(each -> each >= '0' && each <= '9');
    if (!digits || token.text().length() > MOST_DIGITS) {
      in.at--;
      throw in.syntaxError();
    }
    return Integer.parseInt(token.text());
  }

  /// @param owner reads OWNER TO; null: something else follows
  DdlStatement alter(QueueParser.OwnerClause owner) {
    boolean ifExists = in.acceptWords("if", "exists");
    QualifiedName name = in.name();
    DdlStatement owned = owner.read(name, ifExists);
    if (owned != null) {
      return owned;
    }
    if (!ifExists && in.acceptWords("from")) {
      List<JarSource> jars = jars();
      return new DdlStatement.OfApplication(
          new ApplicationStatement.ReplaceApplication(name, jars, with()));
    }
    return new DdlStatement.OfApplication(
        new ApplicationStatement.AlterApplication(name, ifExists, change()));
  }

  private Change change() {
    if (in.acceptWords("rename", "to")) {
      return new Change.RenameApplication(in.expectName());
    }
    if (in.acceptWords("set", "schema")) {
      return new Change.ToSchema(in.expectName());
    }
    if (in.acceptWords("set")) {
      return new Change.SetLimits(new QueueParser(in).options());
    }
    if (in.acceptWords("reset")) {
      return new Change.ResetLimits(in.identifiers());
    }
    if (in.acceptWords("version") && in.peek().kind() == Token.Kind.NUMBER) {
      return new Change.ToVersion(number(in.next()));
    }
    throw in.syntaxError();
  }

  ApplicationStatement drop() {
    boolean ifExists = in.acceptWords("if", "exists");
    List<QualifiedName> names = new ArrayList<>();
    do {
      names.add(in.name());
    } while (in.acceptOperator(","));
    return new ApplicationStatement.DropApplication(names, ifExists, in.cascade());
  }
}
