package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;

/// Turns PostgreSQL's spelling into one that Calcite's Babel parser takes with the same meaning.
///
/// Literals and parameters become `?`, types quoted names `"oid:modifier"`, words that are no keywords of our grammar
/// quoted identifiers (so that Calcite's reserved words are not reserved), `E''`, `$$`, `~~`, `extract` and `interval ''` plain calls.
/// What Calcite does not know at all becomes calls of functions whose names begin with `kh `: DEFAULT, FOR UPDATE.
public final class SpellingTranslator {
  /// First words of statements that change rows.
  public static final Set<String> CHANGES = Set.of("insert", "update", "delete", "merge");

  private static final Set<String> FRAME_MODES = Set.of("rows", "range", "groups");

  /// Keywords only before `(`, with an argument syntax of their own.
  static final Set<String> CALL_KEYWORDS = Set.of("substring", "trim", "position", "overlay");

  private static final Set<String> AFTER_FROM =
      Set.of(
          "where", "group", "having", "window", "order", "union", "intersect", "except", "select");

  private static final Set<String> AFTER_SELECT_LIST =
      Set.of("from", "where", "group", "having", "order", "limit", "union", "intersect", "except");

  private static final Set<String> SET_OPERATIONS = Set.of("union", "intersect", "except");

  private static final Set<String> LOCKS = Set.of("update", "share", "no", "key");

  private static final Set<String> VALUE_FUNCTIONS =
      Set.of(
          "current_date",
          "current_timestamp",
          "current_time",
          "localtimestamp",
          "localtime",
          "current_user",
          "current_role",
          "session_user",
          "user");

  final String sql;
  final TokenReader in;
  final TranslatedText out = new TranslatedText();
  private final OperatorSpelling operators;
  private final ClauseSpelling clauses;
  private final BracketSpelling brackets;
  private final FromSpelling from;
  private final LiteralSpelling literals;
  private final ArgumentSpelling arguments;

  /// One entry per open parenthesis and one for the statement.
  final Deque<NestingLevel> levels = new ArrayDeque<>();

  /// An open CASE.
  ///
  /// @param start where in `text` it begins
  /// @param chain that it is in
  record Case(int start, NestingLevel.Chain chain) {}

  final Deque<Case> cases = new ArrayDeque<>();

  private SpellingTranslator(String sql, List<Token> tokens) {
    this.sql = sql;
    this.in = new TokenReader(sql, tokens, 0);
    this.operators = new OperatorSpelling(this);
    this.clauses = new ClauseSpelling(this);
    this.brackets = new BracketSpelling(this);
    this.from = new FromSpelling(this);
    this.literals = new LiteralSpelling(this);
    this.arguments = new ArgumentSpelling(this);
  }

  /// Translates a query, a condition or an expression; the last token is of kind END.
  ///
  /// @param prefix text in front of it
  static Source translate(String sql, List<Token> tokens, String prefix) {
    SpellingTranslator translator = new SpellingTranslator(sql, tokens);
    translator.levels.push(new NestingLevel(0));
    translator.out.emit(prefix, tokens.getFirst().start());
    while (!translator.in.atEnd()) {
      translator.token();
    }
    return translator.finish();
  }

  /// Translates an expression.
  public static Source translateExpression(String sql) {
    return translate(sql, Lexer.tokenize(sql), "");
  }

  private Source finish() {
    return out.source(in.peek().start());
  }

  void token() {
    Interrupts.check();
    Token token = in.peek();
    if (in.at == 0 || Operands.isBoundary(in.peek(-1), token)) {
      levels.getFirst().chain = new NestingLevel.Chain(out.length());
    }
    if (arguments.named(token)) {
      return;
    }
    switch (token.kind()) {
      case STRING -> {
        in.at++;
        out.literal(new Source.Literal.Text(token.text()), token);
      }
      case NUMBER -> {
        in.at++;
        out.literal(new Source.Literal.NumberText(token.text()), token);
      }
      case PARAMETER -> {
        in.at++;
        out.literal(new Source.Literal.Parameter(LiteralSpelling.parameterNumber(token)), token);
      }
      case QUOTED_WORD -> {
        in.at++;
        identifier(token);
      }
      case WORD -> word(token);
      case OPERATOR -> operator(token);
      case END -> {}
    }
  }

  private void operator(Token token) {
    in.at++;
    switch (token.text()) {
      case "(" -> {
        NestingLevel level = new NestingLevel(out.afterName ? out.operandStart : out.length());
        if (in.at > 1 && OperatorSpelling.continuesCall(in.peek(-2))) {
          level.start = out.operandStart;
        }
        level.arguments = out.afterName;
        from.open(level, levels.getFirst());
        level.distinctOn = in.at > 2 && in.peek(-2).isWord("on") && in.peek(-3).isWord("distinct");
        if (in.at > 1 && in.peek(-2).isWord("as")) {
          refuseChanges(-1);
        }
        level.window =
            in.at > 1
                && (in.peek(-2).isWord("over")
                    || (levels.getFirst().windowClause && in.peek(-2).isWord("as")));
        arguments.open(level, token);
        levels.push(level);
        out.emit(level.wrapsArgument ? "((" : "(", token.start());
        level.inside = out.length();
      }
      case ")" -> {
        if (levels.size() == 1) {
          throw TokenReader.syntaxErrorAt(sql, token);
        }
        arguments.end(token);
        String alias = from.columnDefinitions(token);
        NestingLevel closed = levels.pop();
        from.close(closed);
        out.emit(closed.distinctOn ? "), " : closed.subquery ? ")) " : ") ", token.start());
        out.operandStart = closed.start;
        from.alias(alias, token);
      }
      case "::" -> {
        // Calcite's :: binds less than comparisons.
        int start = out.operandStart;
        out.insert(start, "cast(");
        out.emit(" as ", token.start());
        type();
        out.emit(") ", token.start());
        out.operandStart = start;
      }
      case "!=" -> out.emit("<> ", token.start());
      case "." -> out.emit(".", token.start());
      case "^" -> operators.infixCall("^", token);
      case "[" -> brackets.open(token);
      case "]" -> brackets.close(token);
      case ":" -> brackets.bound(token);
      case "," -> {
        arguments.comma(token);
        out.emit(", ", token.start());
      }
      case ";" -> throw TokenReader.syntaxErrorAt(sql, in.peek());
      case "=>", ":=" -> throw TokenReader.syntaxErrorAt(sql, token);
      default -> {
        boolean prefix = in.at < 2 || !Operands.endsOperand(in.peek(-2));
        if (Operands.isGeneral(token)) {
          operators.general(token, prefix);
          return;
        }
        if ((token.text().equals("-") || token.text().equals("+")) && prefix) {
          out.sign();
        }
        out.emit(token.text() + " ", token.start());
      }
    }
  }

  private void word(Token token) {
    String word = token.text();
    boolean call = in.peek(1).isOperator("(");
    if (afterDot()) {
      in.at++;
      identifier(token);
    } else if (afterAs()) {
      asTarget(token);
    } else if (literals.typed(token)) {
      return;
    } else if (word.equals("collate") && in.at > 0 && in.peek(1).isIdentifier()) {
      operators.collate();
    } else if (in.at > 0 && operators.atTimeZone()) {
      in.at += 3;
      operators.infixCall(Marks.AT_TIME_ZONE_CALL, token);
    } else if (in.at > 0 && operators.likeQuantified(token)) {
      return;
    } else if (word.equals("overlaps") && call && in.peek(-1).isOperator(")")) {
      in.at++;
      operators.infixCall("overlaps", token);
    } else if (word.equals("tablesample")
        && in.peek(2).isOperator("(")
        && in.peek(-1).isIdentifier()) {
      clauses.sample();
    } else if (word.equals("search") || word.equals("cycle")) {
      if (!clauses.traversal(token)) {
        in.at++;
        identifier(token);
      }
    } else if (word.equals("variadic")) {
      arguments.variadic(token);
    } else if (word.equals("default")) {
      in.at++;
      int start = out.length();
      if (in.acceptWords("values")) {
        out.emit("values (\"" + Marks.DEFAULT_CALL + "\"()) ", token.start());
      } else {
        out.emit("\"" + Marks.DEFAULT_CALL + "\"() ", token.start());
      }
      out.operandStart = start;
    } else if (word.equals("table") && beginsQuery()) {
      in.at++;
      out.emit("select * from ", token.start());
    } else if (word.equals("extract") && call) {
      literals.extract(token);
    } else if (word.equals("cast") && call) {
      in.at += 2;
      NestingLevel level = new NestingLevel(out.length());
      level.cast = true;
      levels.push(level);
      out.emit("cast(", token.start());
    } else if (word.equals("row") && call) {
      in.at++;
      out.operandStart = out.length();
      out.emit(TranslatedText.quoted(Marks.ROW_CALL), token.start());
      out.afterName = true;
    } else if (from.isRowsFrom(0)) {
      from.rowsFrom(token);
    } else if (word.equals("array") && in.peek(1).isOperator("[")) {
      brackets.constructor();
    } else if (levels.getFirst().window && FRAME_MODES.contains(word) && beginsBound()) {
      clauses.frame(levels.getFirst());
    } else if (isKeyword(word, call)) {
      keyword(token);
    } else if (VALUE_FUNCTIONS.contains(word) && !call) {
      in.at++;
      int start = out.length();
      out.emit("\"" + word + "\"() ", token.start());
      out.operandStart = start;
    } else {
      in.at++;
      identifier(token);
    }
  }

  private boolean isKeyword(String word, boolean call) {
    if (call && (word.equals("left") || word.equals("right"))) {
      return false;
    }
    if (CALL_KEYWORDS.contains(word)) {
      return call;
    }
    if (word.equals("first") || word.equals("last")) {
      return previousIs("nulls");
    }
    if (word.equals("within")) {
      return in.peek(1).isWord("group") && in.peek(-1).isOperator(")");
    }
    if (word.equals("filter")) {
      return call && in.peek(-1).isOperator(")");
    }
    if (word.equals("to")) {
      return previousIs("similar");
    }
    if (word.equals("window")) {
      return levels.getFirst().selectList >= 0 && in.peek(2).isWord("as");
    }
    if (word.equals("partition")) {
      return levels.getFirst().window;
    }
    return Operands.isKeyword(word);
  }

  private boolean beginsQuery() {
    return in.at == 0
        || in.peek(-1).isOperator("(")
        || SET_OPERATIONS.contains(in.peek(-1).text())
        || (previousIs("all") && in.at > 1 && SET_OPERATIONS.contains(in.peek(-2).text()));
  }

  private boolean beginsBound() {
    Token next = in.peek(1);
    return !next.isOperator(",") && !next.isOperator(")") && !next.isWord("order");
  }

  /// The expression of LIMIT, OFFSET or FETCH, for itself.
  Source.Literal count() {
    SpellingTranslator expression = new SpellingTranslator(sql, in.tokens());
    expression.in.at = in.at;
    expression.levels.push(new NestingLevel(0));
    while (!(expression.levels.size() == 1
        && expression.cases.isEmpty()
        && ClauseSpelling.endsCount(expression.in.peek()))) {
      if (expression.in.atEnd()) {
        throw expression.in.syntaxError();
      }
      expression.token();
    }
    boolean none = expression.in.at == in.at;
    in.at = expression.in.at;
    if (none) {
      throw in.syntaxError();
    }
    return new Source.Literal.Expression(expression.finish());
  }

  private static boolean endsSelectList(Token token) {
    return token.kind() == Token.Kind.END
        || token.isOperator(")")
        || (token.kind() == Token.Kind.WORD && AFTER_SELECT_LIST.contains(token.text()));
  }

  private boolean previousIs(String word) {
    return in.at > 0 && in.peek(-1).isWord(word);
  }

  private void keyword(Token token) {
    NestingLevel level = levels.getFirst();
    String word = token.text();
    if (word.equals("for") && level.selectList >= 0 && LOCKS.contains(in.peek(1).text())) {
      clauses.rowLocks(level);
      return;
    }
    if (word.equals("limit") || word.equals("offset")) {
      clauses.rowCount();
      return;
    }
    if (word.equals("fetch")) {
      clauses.fetch();
      return;
    }
    if (word.equals("using")
        && in.peek(1).kind() == Token.Kind.OPERATOR
        && !in.peek(1).isOperator("(")) {
      clauses.sortOperator();
      return;
    }
    if (word.equals("using") && level.fromClause && in.peek(1).isOperator("(")) {
      from.using(token);
      return;
    }
    if (word.equals("with") && in.peek(1).isWord("ordinality") && in.peek(-1).isOperator(")")) {
      from.ordinality();
      return;
    }
    if (word.equals("lateral") && in.peek(1).isIdentifier()) {
      // Functions may name what is on the left of them also without it.
      in.at++;
      return;
    }
    in.at++;
    if (word.equals("distinct") && in.peek().isWord("on") && in.peek(1).isOperator("(")) {
      in.at++;
      out.operandStart = out.length();
      out.emit(TranslatedText.quoted(Marks.DISTINCT_ON_CALL), token.start());
      level.distinct = true;
      return;
    }
    if (word.equals("order")) {
      if (level.arguments) {
        arguments.end(token);
        // ORDER BY of an aggregate: Calcite's parser knows WITHIN GROUP only.
        out.emit(") within group (", token.start());
      }
      level.ordered = true;
    }
    boolean fromWord = word.equals("from") && !level.arguments && !in.peek(-2).isWord("distinct");
    level.fromClause = fromWord || (level.fromClause && !AFTER_FROM.contains(word));
    level.setOperation |= SET_OPERATIONS.contains(word);
    level.join |= word.equals("join");
    level.windowClause |= word.equals("window");
    if (word.equals("select")) {
      level.arguments = false;
      level.selectWithoutFrom = true;
    } else if (fromWord) {
      level.selectWithoutFrom = false;
    } else if (level.selectWithoutFrom
        && !(in.at > 1 && in.peek(-2).isWord("within"))
        && (word.equals("where") || word.equals("group") || word.equals("having"))) {
      level.selectWithoutFrom = false;
      out.emit("from (values (", token.start());
      out.literal(new Source.Literal.NumberText("1"), token);
      out.emit(")) as \"" + Marks.DUAL + "\" ", token.start());
    }
    int start = out.length();
    out.emit(word + " ", token.start());
    if (word.equals("select")) {
      level.selectList = out.length();
      level.distinct = in.peek().isWord("distinct");
      level.windowClause = false;
      if (endsSelectList(in.peek())) {
        out.emit(TranslatedText.quoted(Marks.NO_COLUMNS_CALL) + "() ", token.start());
      }
    }
    switch (word) {
      case "null", "true", "false", "unknown" -> out.operandStart = start;
      case "case" -> cases.push(new Case(start, level.chain));
      case "end" -> {
        if (cases.isEmpty()) {
          out.operandStart = start;
        } else {
          Case closed = cases.pop();
          out.operandStart = closed.start;
          level.chain = closed.chain;
        }
      }
      default -> {
        if (CALL_KEYWORDS.contains(word)) {
          out.operandStart = start;
          out.afterName = true;
        }
      }
    }
  }

  /// Refuses a statement of WITH that changes rows: at the top level it does not come here.
  private void refuseChanges(int ahead) {
    if (in.peek(ahead).isOperator("(")
        && CHANGES.contains(in.peek(ahead + 1).text())
        && in.peek(ahead + 1).kind() == Token.Kind.WORD
        && in.peek(ahead + 2).kind() == Token.Kind.WORD) {
      throw notAtTopLevel(in.peek(ahead + 1).start() + 1);
    }
  }

  public static EngineException notAtTopLevel(int position) {
    return new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "WITH clause containing a data-modifying statement must be at the top level")
        .withPosition(position);
  }

  private void asTarget(Token token) {
    if (levels.getFirst().cast) {
      type();
    } else if (token.isWord("materialized")) {
      in.at++;
      refuseChanges(0);
    } else if (in.peek().isWord("not") && in.peek(1).isWord("materialized")) {
      in.at += 2;
      refuseChanges(0);
    } else {
      in.at++;
      identifier(token);
    }
  }

  private void type() {
    int start = in.peek().start();
    out.emit(TypeText.write(in.type()) + " ", start);
  }

  private boolean afterDot() {
    return in.at > 0 && in.peek(-1).isOperator(".");
  }

  private boolean afterAs() {
    return previousIs("as");
  }

  void identifier(Token token) {
    if (in.at < 2 || !in.peek(-2).isOperator(".")) {
      out.operandStart = out.length();
    }
    out.emit(TranslatedText.quoted(token.text()) + " ", token.start());
    out.afterName = true;
  }
}
