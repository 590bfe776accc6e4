package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.spelling.NestingLevel.Purpose;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// FROM clauses: functions, ROWS FROM, joins in parentheses and USING with aliases, which Calcite's parser does not take, or not as
/// PostgreSQL writes them.
final class FromSpelling {
  private static final Set<String> QUERY_WORDS = Set.of("select", "values", "with", "table");

  private final SpellingTranslator translator;
  private final TokenReader in;
  private final TranslatedText out;

  FromSpelling(SpellingTranslator translator) {
    this.translator = translator;
    this.in = translator.in;
    this.out = translator.out;
  }

  /// Whether a parenthesis, which has been read and is no call's, is around a table or a join of a FROM clause.
  ///
  /// @param around the level that it is in
  boolean beginsTable(NestingLevel around) {
    return around.query.inFrom()
        && (isBeforeTable(in.peek(-2)) || (around.is(Purpose.TABLE) && in.peek(-2).isOperator("(")))
        && !QUERY_WORDS.contains(in.peek().text());
  }

  /// The end of a parenthesis: a join with an alias becomes a query.
  void close(NestingLevel closed) {
    boolean alias =
        in.peek().isWord("as")
            || in.peek().kind() == Token.Kind.QUOTED_WORD
            || (in.peek().kind() == Token.Kind.WORD
                && !Operands.isKeyword(in.peek().text())
                && !in.peek().isWord("window"));
    if (closed.is(Purpose.TABLE) && closed.query.hasJoin() && alias) {
      out.insert(closed.inside, "select * from ");
    }
  }

  private static boolean isBeforeTable(Token token) {
    return token.isWord("from")
        || token.isWord("join")
        || token.isWord("lateral")
        || token.isOperator(",");
  }

  /// Whether the parenthesis that has been read last begins the arguments of a function in FROM.
  boolean beginsFunction(NestingLevel around) {
    Token first = in.peek();
    if (first.isOperator(")") || first.isOperator("*") || first.isWord("distinct")) {
      return false;
    }
    if (isRowsFrom(-3)) {
      return true;
    }
    int before = in.at - 3;
    while (before >= 1 && in.peek(before - in.at).isOperator(".")) {
      before -= 2;
    }
    return before >= 0
        && around.query.inFrom()
        && !SpellingTranslator.CALL_KEYWORDS.contains(in.peek(-2).text())
        && isBeforeTable(in.peek(before - in.at));
  }

  /// Whether `ROWS FROM (` is there.
  boolean isRowsFrom(int ahead) {
    return in.at + ahead > 0
        && in.peek(ahead).isWord("rows")
        && in.peek(ahead + 1).isWord("from")
        && in.peek(ahead + 2).isOperator("(")
        && isBeforeTable(in.peek(ahead - 1));
  }

  void rowsFrom(Token token) {
    in.at += 2;
    out.operandStart = out.length();
    out.emit(TranslatedText.quoted(Marks.ROWS_FROM_CALL), token.start());
    out.afterName = true;
  }

  /// The list of column definitions behind the parenthesis that ends the arguments of a function becomes one more argument.
  ///
  /// @return the alias in front of the list; empty: there is none; null: there is no list
  @Nullable String columnDefinitions(Token token) {
    CallArguments call = translator.levels.getFirst().call;
    if (call == null || !call.ofTable) {
      return null;
    }
    int start = in.at;
    boolean as = in.acceptWords("as");
    Token name = in.peek();
    boolean named =
        name.isIdentifier() && (as || !Operands.isKeyword(name.text())) && !name.isOperator("(");
    in.at += named ? 1 : 0;
    if ((!as && !named) || !beginsDefinitions()) {
      in.at = start;
      return null;
    }
    in.at++;
    out.emit(", " + TranslatedText.quoted(Marks.COLUMNS_CALL) + "(", token.start());
    String separator = "";
    do {
      Token column = in.peek();
      out.emit(separator, column.start());
      out.literal(new Source.Literal.Text(in.expectIdentifier()), column);
      out.emit(", cast(null as " + TypeText.write(in.type()) + ") ", column.start());
      separator = ", ";
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    out.emit(") ", token.start());
    return named ? name.text() : "";
  }

  /// Whether a parenthesis begins with a name and a type, and not with names alone.
  private boolean beginsDefinitions() {
    return in.peek().isOperator("(")
        && in.peek(1).isIdentifier()
        && !in.peek(2).isOperator(",")
        && !in.peek(2).isOperator(")");
  }

  /// @param alias as [#columnDefinitions] has given it
  void alias(@Nullable String alias, Token token) {
    if (alias != null && !alias.isEmpty()) {
      out.emit("as " + TranslatedText.quoted(alias) + " ", token.start());
    }
  }

  /// Behind the quote that the name of the function begins with.
  void ordinality() {
    in.at += 2;
    out.insert(out.operandStart + 1, Marks.ORDINALITY_PREFIX);
  }

  /// `USING (columns) [AS alias]`: the alias becomes one more column.
  void using(Token token) {
    in.at++;
    out.emit("using (", token.start());
    String separator = "";
    for (String column : in.identifiers()) {
      out.emit(separator + TranslatedText.quoted(column), token.start());
      separator = ", ";
    }
    if (in.acceptWords("as")) {
      String alias = Marks.USING_ALIAS_PREFIX + in.expectIdentifier();
      out.emit(separator + TranslatedText.quoted(alias), token.start());
    }
    out.emit(") ", token.start());
  }
}
