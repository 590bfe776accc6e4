package dev.kakehashi.engine.sql;

/// Rewrites brackets, constructors of arrays and subscripts, as calls.
final class BracketRewriter {
  private final Rewriter rewriter;
  private final TokenReader in;
  private final RewrittenText out;

  BracketRewriter(Rewriter rewriter) {
    this.rewriter = rewriter;
    this.in = rewriter.in;
    this.out = rewriter.out;
  }

  private static String call(String name) {
    return RewrittenText.quoted(name) + "(";
  }

  /// `ARRAY[`
  void constructor() {
    Token word = in.next();
    in.at++;
    begin(word);
  }

  private void begin(Token token) {
    RewriteLevel level = new RewriteLevel(out.length());
    level.array = true;
    out.emit(call(Marks.ARRAY_CALL), token.start());
    push(level);
  }

  private void push(RewriteLevel level) {
    level.chain = new RewriteLevel.Chain(out.length());
    rewriter.levels.push(level);
  }

  /// `[`, which has been read: of an array within an array's constructor, or of a subscript.
  void open(Token token) {
    boolean inConstructor =
        rewriter.levels.getFirst().array
            && (in.peek(-2).isOperator("[") || in.peek(-2).isOperator(","));
    if (inConstructor) {
      begin(token);
    } else if (in.at > 1 && Operands.endsOperand(in.peek(-2))) {
      RewriteLevel level = new RewriteLevel(out.operandStart);
      out.insert(out.operandStart, call(Marks.SUBSCRIPT_CALL));
      out.emit(", ", token.start());
      level.subscript = new RewriteLevel.Subscript(out.length());
      push(level);
    } else {
      throw TokenReader.syntaxErrorAt(rewriter.sql, token);
    }
  }

  /// `:`, which has been read.
  void bound(Token token) {
    RewriteLevel.Subscript subscript = rewriter.levels.getFirst().subscript;
    if (subscript == null || subscript.upper >= 0) {
      throw TokenReader.syntaxErrorAt(rewriter.sql, token);
    }
    if (out.length() == subscript.start) {
      out.emit(call(Marks.NO_BOUND_CALL) + ") ", token.start());
    }
    out.emit(", ", token.start());
    subscript.upper = out.length();
  }

  /// `]`, which has been read.
  void close(Token token) {
    RewriteLevel closed = rewriter.levels.getFirst();
    RewriteLevel.Subscript subscript = closed.subscript;
    if (subscript == null && !closed.array) {
      throw TokenReader.syntaxErrorAt(rewriter.sql, token);
    }
    if (subscript != null) {
      boolean empty = out.length() == Math.max(subscript.start, subscript.upper);
      if (empty && subscript.upper < 0) {
        throw TokenReader.syntaxErrorAt(rewriter.sql, token);
      }
      if (empty) {
        out.emit(call(Marks.NO_BOUND_CALL) + ") ", token.start());
      }
      out.insert(subscript.start, call(subscript.upper < 0 ? Marks.AT_CALL : Marks.SLICE_CALL));
      out.emit(") ", token.start());
      if (in.acceptOperator("[")) {
        out.emit(", ", token.start());
        closed.subscript = new RewriteLevel.Subscript(out.length());
        closed.chain = new RewriteLevel.Chain(out.length());
        return;
      }
    }
    out.emit(") ", token.start());
    rewriter.levels.pop();
    out.operandStart = closed.start;
  }
}
