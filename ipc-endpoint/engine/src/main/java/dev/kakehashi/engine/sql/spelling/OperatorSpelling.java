package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Collations;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;

/// Operators of expressions: Calcite gives them other precedences than PostgreSQL, so that many become calls or get parentheses.
final class OperatorSpelling {

  private final SpellingTranslator translator;
  private final TokenReader in;
  private final TranslatedText out;

  OperatorSpelling(SpellingTranslator translator) {
    this.translator = translator;
    this.in = translator.in;
    this.out = translator.out;
  }

  /// An operator without a precedence of its own becomes a call, or `||` with its operands in parentheses: Calcite gives the operators that
  /// it knows other precedences.
  void general(Token operator, boolean prefix) {
    NestingLevel.Chain chain = translator.levels.getFirst().chain;
    if (!prefix && isQuantifier(0)) {
      quantified(operator, operator.text());
      return;
    }
    if (prefix) {
      int start = out.length();
      out.emit(TranslatedText.quoted(operator.text()) + "(", operator.start());
      sum();
      out.emit(") ", operator.start());
      out.operandStart = start;
    } else if (operator.text().equals("||")) {
      // Long concatenations stay flat: calls within calls would take the parser's stack.
      if (!chain.concatenation && out.signedStart() != chain.start) {
        out.insert(chain.start, "(");
        out.emit(") ", operator.start());
      }
      chain.concatenation = true;
      out.emit("|| ", operator.start());
      int right = out.length();
      if (sum()) {
        out.insert(right, "(");
        out.emit(") ", operator.start());
      }
      out.operandStart = chain.start;
    } else {
      out.insert(chain.start, TranslatedText.quoted(operator.text()) + "(", operator.start());
      chain.concatenation = false;
      out.emit(", ", operator.start());
      sum();
      out.emit(") ", operator.start());
      out.operandStart = chain.start;
    }
  }

  /// `LIKE ANY (array)` and its like, which Calcite's parser does not know; says whether it is one.
  boolean likeQuantified(Token word) {
    int like = word.isWord("not") ? 1 : 0;
    Token kind = in.peek(like);
    if (!(kind.isWord("like") || kind.isWord("ilike")) || !isQuantifier(like + 1)) {
      return false;
    }
    in.at += like + 1;
    quantified(word, (like > 0 ? "!~~" : "~~") + (kind.isWord("ilike") ? "*" : ""));
    return true;
  }

  /// Whether ANY, SOME or ALL with a parenthesis follow.
  private boolean isQuantifier(int ahead) {
    Token word = in.peek(ahead);
    return (word.isWord("any") || word.isWord("some") || word.isWord("all"))
        && in.peek(ahead + 1).isOperator("(");
  }

  /// An operator with ANY or ALL becomes a call of the chain in front of it and the array, or an array of the rows of a query.
  private void quantified(Token operator, String name) {
    NestingLevel.Chain chain = translator.levels.getFirst().chain;
    String word = in.next().isWord("all") ? "all" : "any";
    out.insert(
        chain.start,
        TranslatedText.quoted(Marks.QUANTIFIED_CALL + name + " " + word) + "(",
        operator.start());
    chain.concatenation = false;
    out.emit(", ", operator.start());
    if (in.peek(1).isWord("select") || in.peek(1).isWord("with") || in.peek(1).isWord("values")) {
      out.emit("array ", operator.start());
    }
    operand();
    out.emit(") ", operator.start());
    out.operandStart = chain.start;
  }

  /// Translates operands with operators between them that bind more than those without a precedence of their own; says whether there was
  /// any.
  private boolean sum() {
    operand();
    boolean any = false;
    while (Operands.isTight(in.peek()) || atTimeZone()) {
      any = true;
      boolean call = in.peek().isOperator("^") || atTimeZone();
      translator.token();
      if (!call) {
        operand();
      }
    }
    return any;
  }

  boolean atTimeZone() {
    return in.peek().isWord("at") && in.peek(1).isWord("time") && in.peek(2).isWord("zone");
  }

  /// An operator that binds more tightly than Calcite lets it becomes a call of the operands around it.
  void infixCall(String function, Token operator) {
    int start = out.signedStart();
    out.insert(start, TranslatedText.quoted(function) + "(");
    out.emit(", ", operator.start());
    operand();
    out.emit(") ", operator.start());
    out.operandStart = start;
  }

  /// Translates one operand: signs, what they are in front of, casts and collations behind it.
  private void operand() {
    while (in.peek().isOperator("-") || in.peek().isOperator("+")) {
      translator.token();
    }
    if (in.atEnd()) {
      throw in.syntaxError();
    }
    int depth = translator.levels.size();
    int open = translator.keywords.openCases();
    translator.token();
    while (!in.atEnd()
        && (translator.levels.size() > depth
            || translator.keywords.openCases() > open
            || in.peek().isOperator("::")
            || in.peek().isOperator("[")
            || in.peek().isOperator(".")
            || in.peek(-1).isOperator(".")
            || (in.peek().isOperator("(") && (out.afterName || in.peek(-1).isWord("exists")))
            || continuesCall(in.peek())
            || continuesCall(in.peek(-1))
            || in.peek().isWord("collate"))) {
      translator.token();
    }
  }

  /// Whether it belongs to the call of an aggregate or window function in front of it.
  static boolean continuesCall(Token token) {
    return token.isWord("over") || token.isWord("filter");
  }

  /// COLLATE: every order of text is by bytes here.
  void collate() {
    Token word = in.next();
    Token name = in.next();
    if (name.isWord("pg_catalog") && in.acceptOperator(".")) {
      name = in.next();
    }
    if (!name.isIdentifier()) {
      throw TokenReader.syntaxErrorAt(translator.sql, name);
    }
    boolean quotedName = name.kind() == Token.Kind.QUOTED_WORD;
    if (!Collations.isOfBytes(name.text()) || (!quotedName && !name.text().equals("ucs_basic"))) {
      throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT,
              "collation \"" + name.text() + "\" for encoding \"UTF8\" does not exist")
          .withPosition(word.start() + 1);
    }
    int start = out.operandStart;
    out.insert(start, TranslatedText.quoted(Marks.COLLATE_CALL) + "(");
    out.emit(") ", word.start());
    out.operandStart = start;
  }
}
