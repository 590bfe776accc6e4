package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;

/// Literals with a type in front, and what else has a constant where other calls have an argument.
final class LiteralSpelling {
  private final SpellingTranslator translator;
  private final TokenReader in;
  private final TranslatedText out;

  LiteralSpelling(SpellingTranslator translator) {
    this.translator = translator;
    this.in = translator.in;
    this.out = translator.out;
  }

  /// `date '...'`, `interval '1' day`: a cast of a literal.
  boolean typed(Token token) {
    if (in.peek(1).kind() != Token.Kind.STRING && !in.atKnownType()) {
      return false;
    }
    int save = in.at;
    SqlType type;
    try {
      if (!in.atKnownType()) {
        return false;
      }
      type = in.type();
    } catch (EngineException notAType) {
      // A column or function that has a type's name; the parser reports what is wrong with it.
      in.at = save;
      return false;
    }
    if (in.peek().kind() != Token.Kind.STRING) {
      in.at = save;
      return false;
    }
    String value = in.next().text();
    if (type.oid() == TypeOid.INTERVAL && type.typeModifier() < 0) {
      type = in.interval();
    }
    int start = out.length();
    out.emit("cast(", token.start());
    out.literal(new Source.Literal.Text(value), token);
    out.emit(" as " + TypeText.write(type) + ") ", token.start());
    out.operandStart = start;
    return true;
  }

  /// `extract(field from value)`.
  void extract(Token token) {
    Token field = in.peek(2);
    if (!in.peek(3).isWord("from")
        || (!field.isIdentifier() && field.kind() != Token.Kind.STRING)) {
      in.at++;
      translator.identifier(token);
      return;
    }
    in.at += 4;
    translator.levels.push(new NestingLevel(out.length()));
    out.emit("\"extract\"(", token.start());
    out.literal(new Source.Literal.Text(field.text()), field);
    out.emit(", ", field.start());
  }

  /// The number of `$1` and its like.
  static int parameterNumber(Token token) {
    int number = token.text().length() > 5 ? 0 : Integer.parseInt(token.text());
    if (number < 1) {
      throw new EngineException(
              ErrorCode.UNDEFINED_PARAMETER, "there is no parameter $" + token.text())
          .withPosition(token.start() + 1);
    }
    return number;
  }
}
