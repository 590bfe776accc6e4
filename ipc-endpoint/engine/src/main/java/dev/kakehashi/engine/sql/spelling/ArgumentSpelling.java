package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.ReservedWords;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import java.util.Set;

/// What Calcite's parser does not take where it stands is wrapped in a call: an argument that is VARIADIC or has a name, a subquery by which a window is partitioned, the first argument of a function in FROM.
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

  /// A parenthesis, which has been read; what is around it is still the innermost level.
  void open(NestingLevel level, Token token) {
    NestingLevel around = translator.levels.getFirst();
    boolean exists = in.at > 2 && in.peek(-2).isWord("exists");
    Token before = in.peek(exists ? -3 : Math.max(-2, -in.at));
    level.syntax =
        in.at > 1 && (in.peek(-2).isWord("row") || ReservedWords.looksLikeCall(in.peek(-2).text()));
    level.subquery =
        around.window
            && !around.ordered
            && !level.arguments
            && (before.isWord("by") || before.isOperator(","))
            && beginsQuery();
    if (level.subquery) {
      level.start = out.length() - (exists ? EXISTS.length() : 0);
      String call = TranslatedText.quoted(Marks.SUBQUERY_CALL) + "(";
      if (exists) {
        out.insert(level.start, call);
      } else {
        out.emit(call, token.start());
      }
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
    if (!level.arguments || !(in.peek(-1).isOperator("(") || in.peek(-1).isOperator(","))) {
      throw TokenReader.syntaxErrorAt(translator.sql, token);
    }
    in.at++;
    level.variadic = true;
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
    if (!level.arguments
        || level.syntax
        || !(before.isOperator("(") || before.isOperator(",") || before.isWord("variadic"))) {
      throw TokenReader.syntaxErrorAt(translator.sql, arrow);
    }
    in.at += 2;
    level.named = true;
    out.emit(
        TranslatedText.quoted(Marks.NAMED_CALL) + "(" + TranslatedText.quoted(token.text()) + ", ",
        token.start());
    level.chain = new NestingLevel.Chain(out.length());
    return true;
  }

  /// The end of an argument.
  void end(Token token) {
    NestingLevel level = translator.levels.getFirst();
    if (level.named) {
      level.named = false;
      out.emit(") ", token.start());
    }
    if (level.variadic) {
      level.variadic = false;
      out.emit(") ", token.start());
    }
    if (level.wrapsArgument) {
      level.wrapsArgument = false;
      out.emit(") ", token.start());
    }
  }

  /// A comma, perhaps between arguments.
  void comma(Token token) {
    if (translator.levels.getFirst().variadic) {
      throw TokenReader.syntaxErrorAt(translator.sql, token);
    }
    end(token);
  }
}
