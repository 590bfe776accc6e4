package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.ReservedWords;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.spelling.NestingLevel.Purpose;
import java.util.Set;

/// Wraps text in a call where Calcite's parser does not take it as it stands. It wraps VARIADIC and named arguments, subqueries by which a
/// window is partitioned, and the first argument of a function in FROM.
final class ArgumentSpelling {
  private static final Set<String> QUERY_WORDS = Set.of("select", "values", "with", "table");

  /// As it has been written.
  private static final String EXISTS = "exists ";

  private final SpellingTranslator translator;
  private final TokenReader in;
  private final TranslatedText out;

  ArgumentSpelling(SpellingTranslator translator) {
    this.translator = translator;
    this.in = translator.in;
    this.out = translator.out;
  }

  /// Whether the parenthesis that has been read belongs to what looks like a call of a function, but takes no names.
  boolean isOfSyntax() {
    return in.at > 1
        && (in.peek(-2).isWord("row") || ReservedWords.looksLikeCall(in.peek(-2).text()));
  }

  /// Whether a parenthesis, which has been read and is no call's, begins a subquery by which a window is partitioned.
  ///
  /// @param around the level that it is in
  boolean beginsPartition(NestingLevel around) {
    Token before = in.peek(isExists() ? -3 : Math.max(-2, -in.at));
    return around.is(Purpose.WINDOW)
        && !around.ordered
        && (before.isWord("by") || before.isOperator(","))
        && beginsQuery();
  }

  private boolean isExists() {
    return in.at > 2 && in.peek(-2).isWord("exists");
  }

  /// Begins the call around such a subquery.
  void beginPartition(NestingLevel level, Token token) {
    boolean exists = isExists();
    level.start = out.length() - (exists ? EXISTS.length() : 0);
    String call = TranslatedText.quoted(Marks.SUBQUERY_CALL) + "(";
    if (exists) {
      out.insert(level.start, call);
    } else {
      out.emit(call, token.start());
    }
  }

  private boolean beginsQuery() {
    int ahead = 0;
    while (in.peek(ahead).isOperator("(")) {
      ahead++;
    }
    return in.peek(ahead).kind() == Token.Kind.WORD && QUERY_WORDS.contains(in.peek(ahead).text());
  }

  /// `VARIADIC` in front of the last argument.
  void variadic(Token token) {
    NestingLevel level = translator.levels.getFirst();
    CallArguments call = level.call;
    if (call == null
        || !level.hasArguments()
        || !(in.peek(-1).isOperator("(") || in.peek(-1).isOperator(","))) {
      throw TokenReader.syntaxErrorAt(translator.sql, token);
    }
    in.at++;
    call.wrap(true);
    out.emit(TranslatedText.quoted(Marks.VARIADIC_CALL) + "(", token.start());
    level.chain = new NestingLevel.Chain(out.length());
  }

  /// `name =>`, or `name :=`, in front of an argument; says whether that is what comes.
  boolean named(Token token) {
    Token arrow = in.peek(1);
    if (!token.isIdentifier() || !(arrow.isOperator("=>") || arrow.isOperator(":="))) {
      return false;
    }
    NestingLevel level = translator.levels.getFirst();
    Token before = in.peek(in.at == 0 ? 0 : -1);
    CallArguments call = level.call;
    if (call == null
        || !level.hasArguments()
        || call.ofSyntax
        || !(before.isOperator("(") || before.isOperator(",") || before.isWord("variadic"))) {
      throw TokenReader.syntaxErrorAt(translator.sql, arrow);
    }
    in.at += 2;
    call.wrap(false);
    out.emit(
        TranslatedText.quoted(Marks.NAMED_CALL) + "(" + TranslatedText.quoted(token.text()) + ", ",
        token.start());
    level.chain = new NestingLevel.Chain(out.length());
    return true;
  }

  /// The end of an argument.
  void end(Token token) {
    CallArguments call = translator.levels.getFirst().call;
    for (int open = call == null ? 0 : call.end(); open > 0; open--) {
      out.emit(") ", token.start());
    }
  }

  /// A comma, perhaps between arguments.
  void comma(Token token) {
    CallArguments call = translator.levels.getFirst().call;
    if (call != null && call.isVariadic()) {
      throw TokenReader.syntaxErrorAt(translator.sql, token);
    }
    end(token);
  }
}
