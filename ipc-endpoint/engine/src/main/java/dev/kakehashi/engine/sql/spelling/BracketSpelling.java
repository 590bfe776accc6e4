package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.spelling.NestingLevel.Purpose;

/// Translates brackets, constructors of arrays and subscripts, as calls.
final class BracketSpelling {
  private final SpellingTranslator translator;
  private final TokenReader in;
  private final TranslatedText out;

  BracketSpelling(SpellingTranslator translator) {
    this.translator = translator;
    this.in = translator.in;
    this.out = translator.out;
  }

  private static String call(String name) {
    return TranslatedText.quoted(name) + "(";
  }

  /// `ARRAY[`
  void constructor() {
    Token word = in.next();
    in.at++;
    begin(word);
  }

  private void begin(Token token) {
    NestingLevel level = new NestingLevel(Purpose.ARRAY, out.length());
    out.emit(call(Marks.ARRAY_CALL), token.start());
    push(level);
  }

  private void push(NestingLevel level) {
    level.chain = new NestingLevel.Chain(out.length());
    translator.levels.push(level);
  }

  /// `[`, which has been read: of an array within an array's constructor, or of a subscript.
  void open(Token token) {
    boolean inConstructor =
        translator.levels.getFirst().is(Purpose.ARRAY)
            && (in.peek(-2).isOperator("[") || in.peek(-2).isOperator(","));
    if (inConstructor) {
      begin(token);
    } else if (in.at > 1 && Operands.endsOperand(in.peek(-2))) {
      NestingLevel level = new NestingLevel(out.operandStart);
      out.insert(out.operandStart, call(Marks.SUBSCRIPT_CALL));
      out.emit(", ", token.start());
      level.subscript = new NestingLevel.Subscript(out.length());
      push(level);
    } else {
      throw TokenReader.syntaxErrorAt(translator.sql, token);
    }
  }

  /// `:`, which has been read.
  void bound(Token token) {
    NestingLevel.Subscript subscript = translator.levels.getFirst().subscript;
    if (subscript == null || subscript.upper >= 0) {
      throw TokenReader.syntaxErrorAt(translator.sql, token);
    }
    if (out.length() == subscript.start) {
      out.emit(call(Marks.NO_BOUND_CALL) + ") ", token.start());
    }
    out.emit(", ", token.start());
    subscript.upper = out.length();
  }

  /// `]`, which has been read.
  void close(Token token) {
    NestingLevel closed = translator.levels.getFirst();
    NestingLevel.Subscript subscript = closed.subscript;
    if (subscript == null && !closed.is(Purpose.ARRAY)) {
      throw TokenReader.syntaxErrorAt(translator.sql, token);
    }
    if (subscript != null) {
      boolean empty = out.length() == Math.max(subscript.start, subscript.upper);
      if (empty && subscript.upper < 0) {
        throw TokenReader.syntaxErrorAt(translator.sql, token);
      }
      if (empty) {
        out.emit(call(Marks.NO_BOUND_CALL) + ") ", token.start());
      }
      out.insert(subscript.start, call(subscript.upper < 0 ? Marks.AT_CALL : Marks.SLICE_CALL));
      out.emit(") ", token.start());
      if (in.acceptOperator("[")) {
        out.emit(", ", token.start());
        closed.subscript = new NestingLevel.Subscript(out.length());
        closed.chain = new NestingLevel.Chain(out.length());
        return;
      }
    }
    out.emit(") ", token.start());
    translator.levels.pop();
    out.operandStart = closed.start;
  }
}
