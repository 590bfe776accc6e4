package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.QueueStatement.Action;
import dev.kakehashi.engine.sql.parser.QueueStatement.Option;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Parser of statements about queues, after their first words.
final class QueueParser {
  private final TokenReader in;

  QueueParser(TokenReader in) {
    this.in = in;
  }

  QueueStatement create() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    QualifiedName name = in.name();
    return new QueueStatement.CreateQueue(
        name, ifNotExists, in.acceptWords("with") ? options() : List.of());
  }

  /// `(name = value, …)`.
  List<Option> options() {
    List<Option> options = new ArrayList<>();
    in.expectOperator("(");
    do {
      int position = in.peek().start() + 1;
      String name = in.expectIdentifier();
      in.expectOperator("=");
      options.add(new Option(name, value(), position));
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    return options;
  }

  /// A string, a word, or a number with its sign.
  private String value() {
    boolean negative = in.acceptOperator("-");
    Token token = in.peek();
    boolean fits =
        token.kind() == Token.Kind.NUMBER
            || (!negative && (token.kind() == Token.Kind.STRING || token.isIdentifier()))
            || (!negative && token.kind() == Token.Kind.WORD);
    if (!fits) {
      throw in.syntaxError();
    }
    in.next();
    return negative ? "-" + token.text() : token.text();
  }

  private String string() {
    if (in.peek().kind() != Token.Kind.STRING) {
      throw in.syntaxError();
    }
    return in.next().text();
  }

  private boolean ifExists() {
    return in.acceptWords("if", "exists");
  }

  /// @param owner reads OWNER TO; null: something else follows
  DdlStatement alter(OwnerClause owner) {
    boolean ifExists = ifExists();
    QualifiedName name = in.name();
    DdlStatement owned = owner.read(name, ifExists);
    return owned != null
        ? owned
        : new DdlStatement.OfQueue(new QueueStatement.AlterQueue(name, ifExists, action()));
  }

  /// Reads OWNER TO.
  interface OwnerClause {
    @Nullable DdlStatement read(QualifiedName name, boolean ifExists);
  }

  private Action action() {
    if (in.acceptWords("rename", "to")) {
      return new Action.RenameQueue(in.expectName());
    }
    if (in.acceptWords("set", "schema")) {
      return new Action.MoveToSchema(in.expectName());
    }
    if (in.acceptWords("set", "weight")) {
      String key = string();
      in.expectWord("to");
      return new Action.SetWeight(key, value());
    }
    if (in.acceptWords("set")) {
      return new Action.SetOptions(options());
    }
    if (in.acceptWords("reset")) {
      return new Action.ResetOptions(in.identifiers());
    }
    if (in.acceptWords("pause")) {
      return new Action.SetPaused(true);
    }
    if (in.acceptWords("resume")) {
      return new Action.SetPaused(false);
    }
    if (in.acceptWords("push", "to")) {
      return new Action.PushTo(in.acceptWords("none") ? null : string());
    }
    if (in.acceptWords("add", "schedule")) {
      String name = in.expectName();
      in.expectWord("cron");
      String cron = string();
      String zone = in.acceptWords("zone") ? string() : null;
      in.expectWord("payload");
      return new Action.AddSchedule(name, cron, zone, string());
    }
    if (in.acceptWords("drop", "schedule")) {
      return new Action.DropSchedule(in.expectName());
    }
    throw in.syntaxError();
  }

  QueueStatement drop() {
    boolean ifExists = ifExists();
    List<QualifiedName> names = new ArrayList<>();
    do {
      names.add(in.name());
    } while (in.acceptOperator(","));
    return new QueueStatement.DropQueue(names, ifExists, in.cascade());
  }

  QueueStatement createGroup() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    String group = in.expectName();
    QualifiedName queue = onQueue();
    in.expectWord("from");
    boolean first = in.acceptWords("first");
    if (!first) {
      in.expectWord("now");
    }
    return new QueueStatement.CreateGroup(group, ifNotExists, queue, first);
  }

  QueueStatement dropGroup() {
    boolean ifExists = ifExists();
    String group = in.expectName();
    return new QueueStatement.DropGroup(group, ifExists, onQueue());
  }

  private QualifiedName onQueue() {
    in.expectWord("on");
    in.expectWord("queue");
    return in.name();
  }

  QueueStatement purge() {
    return new QueueStatement.Purge(in.name(), in.acceptWords("dead"));
  }

  QueueStatement move() {
    boolean dead = in.acceptWords("dead");
    long max = in.peek().kind() == Token.Kind.NUMBER ? count() : Long.MAX_VALUE;
    in.expectWord("from");
    in.expectWord("queue");
    QualifiedName from = in.name();
    in.expectWord("to");
    in.expectWord("queue");
    QualifiedName to = in.name();
    String error = in.acceptWords("error") ? string() : null;
    String rate = in.acceptWords("rate") ? value() : null;
    return new QueueStatement.Move(dead, max, from, to, error, rate);
  }

  private long count() {
    Token token = in.peek();
    try {
      long count = Long.parseLong(token.text());
      in.next();
      return count;
    } catch (NumberFormatException notWhole) {
      throw in.syntaxError();
    }
  }
}
