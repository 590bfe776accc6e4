package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Turns PostgreSQL's spelling into one that Calcite's Babel parser takes with the same meaning.
///
/// Literals and parameters become `?`, types quoted names `"oid:modifier"`, words that are no keywords of our grammar
/// quoted identifiers (so that Calcite's reserved words are not reserved), `E''`, `$$`, `~~`, `extract` and `interval ''` plain calls.
/// What Calcite does not know at all becomes calls of functions whose names begin with `kh `: DEFAULT, FOR UPDATE.
final class Rewriter {
  /// Name of the call that stands for DEFAULT.
  static final String DEFAULT_CALL = "kh default";

  /// Name of the call that stands for FOR UPDATE, in front of a select list.
  static final String LOCK_CALL = "kh lock";

  /// Name of the call that stands for a window's frame, the last item of its ORDER BY.
  static final String FRAME_CALL = "kh frame";

  /// Name of the call that stands for DISTINCT ON, in front of a select list.
  static final String DISTINCT_ON_CALL = "kh distinct on";

  /// Name of the call that stands for WITH TIES, in front of a select list.
  static final String TIES_CALL = "kh ties";

  /// Names of calls in front of a select list that are no columns.
  static final Set<String> SELECT_MARKERS = Set.of(LOCK_CALL, DISTINCT_ON_CALL, TIES_CALL);

  /// Name of the call that stands for AT TIME ZONE: the time, then the zone.
  static final String AT_TIME_ZONE_CALL = "kh at time zone";

  /// Name of the call that stands for COLLATE with a collation that orders by bytes.
  static final String COLLATE_CALL = "kh collate";

  /// `ROW(...)`.
  static final String ROW_CALL = "kh row";

  /// In front of the name of a function in FROM that is WITH ORDINALITY.
  static final String ORDINALITY_PREFIX = "kh ordinality ";

  private static final Set<String> BYTE_COLLATIONS = Set.of("C", "POSIX", "default", "ucs_basic");

  private static final Set<String> FRAME_MODES = Set.of("rows", "range", "groups");

  /// Alias of the row that a SELECT without FROM but with WHERE selects from.
  static final String DUAL = "kh dual";

  /// Keywords only before `(`, with an argument syntax of their own.
  private static final Set<String> CALL_KEYWORDS =
      Set.of("substring", "trim", "position", "overlay");

  /// What follows the expression of LIMIT, OFFSET or FETCH.
  private static final Set<String> AFTER_COUNT =
      Set.of("limit", "offset", "fetch", "for", "row", "rows", "union", "intersect", "except");

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
          "session_user");

  private final String sql;
  private final TokenReader in;

  /// Where in `text` the signs stand that are prefix operators.
  private Set<Integer> signs = new HashSet<>();

  private final StringBuilder text = new StringBuilder();
  private int[] positions = new int[256];
  private final List<Source.Literal> literals = new ArrayList<>();

  /// One entry per open parenthesis and one for the statement.
  private final Deque<Level> levels = new ArrayDeque<>();

  private static final class Level {
    boolean cast;
    boolean selectWithoutFrom;

    /// Where in `text` the select list of the last SELECT begins; -1 if there is none.
    int selectList = -1;

    boolean distinct;

    boolean setOperation;

    /// Whether it is the parenthesis of a window definition, and whether that has had its ORDER BY.
    boolean window;

    boolean ordered;

    /// Whether the WINDOW clause of the SELECT has begun.
    boolean windowClause;

    /// Whether the parenthesis holds the arguments of a function, so far without a query.
    boolean arguments;

    /// Whether it is the list of DISTINCT ON.
    boolean distinctOn;

    /// Where in `text` the operand begins that the parenthesis belongs to.
    int start;

    Chain chain;

    Level(int start) {
      this.start = start;
      this.chain = new Chain(start);
    }
  }

  /// Operands with operators that bind more than comparisons.
  private static final class Chain {
    /// Where in `text` it begins.
    final int start;

    /// Whether it is a `||` b, so far.
    boolean concatenation;

    Chain(int start) {
      this.start = start;
    }
  }

  /// An open CASE.
  ///
  /// @param start where in `text` it begins
  /// @param chain that it is in
  private record Case(int start, Chain chain) {}

  private final Deque<Case> cases = new ArrayDeque<>();

  /// Where in `text` the operand begins that was emitted last.
  private int operandStart;

  /// Whether a name was emitted last, so that a parenthesis begins its arguments.
  private boolean afterName;

  private Rewriter(String sql, List<Token> tokens) {
    this.sql = sql;
    this.in = new TokenReader(sql, tokens, 0);
  }

  /// Rewrites a query, a condition or an expression; the last token is of kind END.
  ///
  /// @param prefix text in front of it
  static Source rewrite(String sql, List<Token> tokens, String prefix) {
    Rewriter rewriter = new Rewriter(sql, tokens);
    rewriter.levels.push(new Level(0));
    rewriter.emit(prefix, tokens.getFirst().start());
    while (!rewriter.in.atEnd()) {
      rewriter.token();
    }
    return rewriter.finish();
  }

  /// Rewrites an expression.
  static Source rewriteExpression(String sql) {
    return rewrite(sql, Lexer.tokenize(sql), "");
  }

  private Source finish() {
    return new Source(
        text.toString(),
        literals,
        java.util.Arrays.copyOf(positions, text.length()),
        in.peek().start());
  }

  private void token() {
    Token token = in.peek();
    if (in.at == 0 || Operands.isBoundary(in.peek(-1), token)) {
      levels.getFirst().chain = new Chain(text.length());
    }
    switch (token.kind()) {
      case STRING -> {
        in.at++;
        StringBuilder value = new StringBuilder(token.text());
        while (in.peek().kind() == Token.Kind.STRING) {
          value.append(in.next().text());
        }
        literal(new Source.Literal.Text(value.toString()), token);
      }
      case NUMBER -> {
        in.at++;
        literal(new Source.Literal.NumberText(token.text()), token);
      }
      case PARAMETER -> {
        in.at++;
        literal(new Source.Literal.Parameter(parameterNumber(token)), token);
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

  private int parameterNumber(Token token) {
    int number = token.text().length() > 5 ? 0 : Integer.parseInt(token.text());
    if (number < 1) {
      throw new EngineException(
              ErrorCode.UNDEFINED_PARAMETER, "there is no parameter $" + token.text())
          .withPosition(token.start() + 1);
    }
    return number;
  }

  private void operator(Token token) {
    in.at++;
    switch (token.text()) {
      case "(" -> {
        Level level = new Level(afterName ? operandStart : text.length());
        if (in.at > 1 && continuesCall(in.peek(-2))) {
          level.start = operandStart;
        }
        level.arguments = afterName;
        level.distinctOn = in.at > 2 && in.peek(-2).isWord("on") && in.peek(-3).isWord("distinct");
        if (in.at > 1 && in.peek(-2).isWord("as")) {
          refuseChanges(-1);
        }
        level.window =
            in.at > 1
                && (in.peek(-2).isWord("over")
                    || (levels.getFirst().windowClause && in.peek(-2).isWord("as")));
        levels.push(level);
        emit("(", token.start());
      }
      case ")" -> {
        if (levels.size() == 1) {
          throw TokenReader.syntaxErrorAt(sql, token);
        }
        Level closed = levels.pop();
        emit(closed.distinctOn ? "), " : ") ", token.start());
        operandStart = closed.start;
      }
      case "::" -> {
        // Calcite's :: binds less than comparisons.
        int start = operandStart;
        insert(start, "cast(");
        emit(" as ", token.start());
        type();
        emit(") ", token.start());
        operandStart = start;
      }
      case "!=" -> emit("<> ", token.start());
      case "." -> emit(".", token.start());
      case "^" -> infixCall("^", token);
      case ";" -> throw TokenReader.syntaxErrorAt(sql, in.peek());
      default -> {
        boolean prefix = in.at < 2 || !Operands.endsOperand(in.peek(-2));
        if (Operands.isGeneral(token)) {
          generalOperator(token, prefix);
          return;
        }
        if ((token.text().equals("-") || token.text().equals("+")) && prefix) {
          signs.add(text.length());
        }
        emit(token.text() + " ", token.start());
      }
    }
  }

  /// An operator without a precedence of its own becomes a call, or `||` with its operands in parentheses: Calcite gives the operators that it knows other precedences.
  private void generalOperator(Token operator, boolean prefix) {
    Chain chain = levels.getFirst().chain;
    if (prefix) {
      int start = text.length();
      emit(quoted(operator.text()) + "(", operator.start());
      sum();
      emit(") ", operator.start());
      operandStart = start;
    } else if (operator.text().equals("||")) {
      // Long concatenations stay flat: calls within calls would take the parser's stack.
      if (!chain.concatenation && signedStart() != chain.start) {
        insert(chain.start, "(");
        emit(") ", operator.start());
      }
      chain.concatenation = true;
      emit("|| ", operator.start());
      int right = text.length();
      if (sum()) {
        insert(right, "(");
        emit(") ", operator.start());
      }
      operandStart = chain.start;
    } else {
      insert(chain.start, quoted(operator.text()) + "(", operator.start());
      chain.concatenation = false;
      emit(", ", operator.start());
      sum();
      emit(") ", operator.start());
      operandStart = chain.start;
    }
  }

  /// Rewrites operands with operators between them that bind more than those without a precedence of their own; says whether there was any.
  private boolean sum() {
    operand();
    boolean any = false;
    while (Operands.isTight(in.peek()) || atTimeZone()) {
      any = true;
      boolean call = in.peek().isOperator("^") || atTimeZone();
      token();
      if (!call) {
        operand();
      }
    }
    return any;
  }

  private boolean atTimeZone() {
    return in.peek().isWord("at") && in.peek(1).isWord("time") && in.peek(2).isWord("zone");
  }

  /// Where the operand that was emitted last begins, with the signs in front of it, which bind more tightly than `^` and AT TIME ZONE.
  private int signedStart() {
    int start = operandStart;
    while (start >= 2 && signs.contains(start - 2)) {
      start -= 2;
    }
    return start;
  }

  /// An operator that binds more tightly than Calcite lets it becomes a call of the operands around it.
  private void infixCall(String function, Token operator) {
    int start = signedStart();
    insert(start, quoted(function) + "(");
    emit(", ", operator.start());
    operand();
    emit(") ", operator.start());
    operandStart = start;
  }

  /// Rewrites one operand: signs, what they are in front of, casts and collations behind it.
  private void operand() {
    while (in.peek().isOperator("-") || in.peek().isOperator("+")) {
      token();
    }
    if (in.atEnd()) {
      throw in.syntaxError();
    }
    int depth = levels.size();
    int open = cases.size();
    token();
    while (!in.atEnd()
        && (levels.size() > depth
            || cases.size() > open
            || in.peek().isOperator("::")
            || in.peek().isOperator(".")
            || in.peek(-1).isOperator(".")
            || (in.peek().isOperator("(") && (afterName || in.peek(-1).isWord("exists")))
            || continuesCall(in.peek())
            || continuesCall(in.peek(-1))
            || in.peek().isWord("collate"))) {
      token();
    }
  }

  /// Whether it belongs to the call of an aggregate or window function in front of it.
  private static boolean continuesCall(Token token) {
    return token.isWord("over") || token.isWord("filter");
  }

  /// COLLATE: every order of text is by bytes here.
  private void collate() {
    Token word = in.next();
    Token name = in.next();
    if (name.isWord("pg_catalog") && in.acceptOperator(".")) {
      name = in.next();
    }
    if (!name.isIdentifier()) {
      throw TokenReader.syntaxErrorAt(sql, name);
    }
    boolean quotedName = name.kind() == Token.Kind.QUOTED_WORD;
    if (!BYTE_COLLATIONS.contains(name.text())
        || (!quotedName && !name.text().equals("ucs_basic"))) {
      throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT,
              "collation \"" + name.text() + "\" for encoding \"UTF8\" does not exist")
          .withPosition(word.start() + 1);
    }
    int start = operandStart;
    insert(start, quoted(COLLATE_CALL) + "(");
    emit(") ", word.start());
    operandStart = start;
  }

  private void word(Token token) {
    String word = token.text();
    boolean call = in.peek(1).isOperator("(");
    if (afterDot()) {
      in.at++;
      identifier(token);
    } else if (afterAs()) {
      asTarget(token);
    } else if (typedLiteral(token)) {
      return;
    } else if (word.equals("collate") && in.at > 0 && in.peek(1).isIdentifier()) {
      collate();
    } else if (in.at > 0 && atTimeZone()) {
      in.at += 3;
      infixCall(AT_TIME_ZONE_CALL, token);
    } else if (word.equals("tablesample")
        && in.peek(2).isOperator("(")
        && in.peek(-1).isIdentifier()) {
      sample();
    } else if (word.equals("default")) {
      in.at++;
      int start = text.length();
      if (in.acceptWords("values")) {
        emit("values (\"" + DEFAULT_CALL + "\"()) ", token.start());
      } else {
        emit("\"" + DEFAULT_CALL + "\"() ", token.start());
      }
      operandStart = start;
    } else if (word.equals("table") && beginsQuery()) {
      in.at++;
      emit("select * from ", token.start());
    } else if (word.equals("extract") && call) {
      extract(token);
    } else if (word.equals("cast") && call) {
      in.at += 2;
      Level level = new Level(text.length());
      level.cast = true;
      levels.push(level);
      emit("cast(", token.start());
    } else if (word.equals("row") && call) {
      in.at++;
      operandStart = text.length();
      emit(quoted(ROW_CALL), token.start());
      afterName = true;
    } else if (levels.getFirst().window && FRAME_MODES.contains(word) && beginsBound()) {
      frame(levels.getFirst());
    } else if (isKeyword(word, call)) {
      keyword(token);
    } else if (VALUE_FUNCTIONS.contains(word) && !call) {
      in.at++;
      int start = text.length();
      emit("\"" + word + "\"() ", token.start());
      operandStart = start;
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

  /// A frame clause becomes one more item of the window's ORDER BY: a call with mode, bounds and exclusion.
  private void frame(Level level) {
    Token mode = in.next();
    emit((level.ordered ? ", " : "order by ") + quoted(FRAME_CALL), mode.start());
    emit("(" + quoted("kh " + mode.text()), mode.start());
    if (in.acceptWords("between")) {
      bound();
      in.expectWord("and");
      bound();
    } else {
      bound();
    }
    if (in.acceptWords("exclude")) {
      for (String exclusion : List.of("current row", "no others", "group", "ties")) {
        if (in.acceptWords(exclusion.split(" ", -1))) {
          emit(", " + quoted("kh exclude " + exclusion), mode.start());
          break;
        }
      }
    }
    emit(") ", mode.start());
  }

  private void bound() {
    int start = in.peek().start();
    for (String bound : List.of("unbounded preceding", "unbounded following", "current row")) {
      if (in.acceptWords(bound.split(" ", -1))) {
        emit(", " + quoted("kh " + bound), start);
        return;
      }
    }
    emit(", ", start);
    int depth = levels.size();
    while (levels.size() > depth
        || !(in.peek().isWord("preceding") || in.peek().isWord("following"))) {
      if (in.atEnd() || levels.size() < depth) {
        throw in.syntaxError();
      }
      token();
    }
    emit(", " + quoted("kh " + in.next().text()), start);
  }

  /// LIMIT and OFFSET, which Calcite takes in this order.
  private void rowCount() {
    Token clause = in.next();
    boolean offset = clause.isWord("offset");
    if (!offset && in.acceptWords("all")) {
      return;
    }
    Source.Literal count = count();
    if (offset) {
      if (!in.acceptWords("rows")) {
        in.acceptWords("row");
      }
      if (in.peek().isWord("limit")) {
        rowCount();
      }
    }
    emit(clause.text() + " ", clause.start());
    literal(count, clause);
  }

  private void fetch(Level level) {
    Token clause = in.next();
    if (!in.acceptWords("first")) {
      in.expectWord("next");
    }
    boolean one = in.peek().isWord("row") || in.peek().isWord("rows");
    emit("fetch first ", clause.start());
    literal(one ? new Source.Literal.NumberText("1") : count(), clause);
    if (!in.acceptWords("row")) {
      in.expectWord("rows");
    }
    emit("rows ", clause.start());
    if (in.peek().isWord("with") && in.peek(1).isWord("ties")) {
      withTies(level, in.peek());
    } else {
      in.expectWord("only");
      emit("only ", clause.start());
    }
  }

  /// The expression of LIMIT, OFFSET or FETCH, for itself.
  private Source.Literal count() {
    Rewriter expression = new Rewriter(sql, in.tokens());
    expression.in.at = in.at;
    expression.levels.push(new Level(0));
    while (!(expression.levels.size() == 1
        && expression.cases.isEmpty()
        && endsCount(expression.in.peek()))) {
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

  private static boolean endsCount(Token token) {
    return token.kind() == Token.Kind.END
        || token.isOperator(")")
        || token.isOperator(";")
        || (token.kind() == Token.Kind.WORD && AFTER_COUNT.contains(token.text()));
  }

  /// `USING <` and `USING >` behind a key of ORDER BY.
  private void sortOperator() {
    in.at++;
    Token operator = in.next();
    switch (operator.text()) {
      case "<" -> {}
      case ">" -> emit("desc ", operator.start());
      default ->
          throw new EngineException(
                  ErrorCode.WRONG_OBJECT_TYPE,
                  "operator " + operator.text() + " is not a valid ordering operator")
              .withPosition(operator.start() + 1)
              .withHint(
                  "Ordering operators must be \"<\" or \">\" members of btree operator families.");
    }
  }

  private boolean previousIs(String word) {
    return in.at > 0 && in.peek(-1).isWord(word);
  }

  private void keyword(Token token) {
    Level level = levels.getFirst();
    String word = token.text();
    if (word.equals("for") && level.selectList >= 0 && LOCKS.contains(in.peek(1).text())) {
      rowLocks(level);
      return;
    }
    if (word.equals("limit") || word.equals("offset")) {
      rowCount();
      return;
    }
    if (word.equals("fetch")) {
      fetch(level);
      return;
    }
    if (word.equals("using")
        && in.peek(1).kind() == Token.Kind.OPERATOR
        && !in.peek(1).isOperator("(")) {
      sortOperator();
      return;
    }
    if (word.equals("with") && in.peek(1).isWord("ordinality") && in.peek(-1).isOperator(")")) {
      in.at += 2;
      // Behind the quote that the name of the function begins with.
      insert(operandStart + 1, ORDINALITY_PREFIX);
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
      operandStart = text.length();
      emit(quoted(DISTINCT_ON_CALL), token.start());
      level.distinct = true;
      return;
    }
    if (word.equals("order")) {
      if (level.arguments) {
        // ORDER BY of an aggregate: Calcite's parser knows WITHIN GROUP only.
        emit(") within group (", token.start());
      }
      level.ordered = true;
    }
    level.setOperation |= SET_OPERATIONS.contains(word);
    level.windowClause |= word.equals("window");
    if (word.equals("select")) {
      level.arguments = false;
      level.selectWithoutFrom = true;
    } else if (word.equals("from")) {
      level.selectWithoutFrom = false;
    } else if (level.selectWithoutFrom
        && !(in.at > 1 && in.peek(-2).isWord("within"))
        && (word.equals("where") || word.equals("group") || word.equals("having"))) {
      level.selectWithoutFrom = false;
      emit("from (values (", token.start());
      literal(new Source.Literal.NumberText("1"), token);
      emit(")) as \"" + DUAL + "\" ", token.start());
    }
    int start = text.length();
    emit(word + " ", token.start());
    if (word.equals("select")) {
      level.selectList = text.length();
      level.distinct = in.peek().isWord("distinct");
      level.windowClause = false;
    }
    switch (word) {
      case "null", "true", "false", "unknown" -> operandStart = start;
      case "case" -> cases.push(new Case(start, level.chain));
      case "end" -> {
        if (cases.isEmpty()) {
          operandStart = start;
        } else {
          Case closed = cases.pop();
          operandStart = closed.start;
          level.chain = closed.chain;
        }
      }
      default -> {
        if (CALL_KEYWORDS.contains(word)) {
          operandStart = start;
          afterName = true;
        }
      }
    }
  }

  /// FOR UPDATE and its relatives become a call in front of the select list: the tables, then the wait policy.
  private void rowLocks(Level level) {
    Token first = in.next();
    if (!in.acceptWords("no", "key", "update") && !in.acceptWords("key", "share")) {
      in.at++;
    }
    StringBuilder call = new StringBuilder("\"" + LOCK_CALL + "\"(");
    if (in.acceptWords("of")) {
      do {
        call.append(quoted(in.expectIdentifier())).append(", ");
      } while (in.acceptOperator(","));
    }
    String wait = "wait";
    if (in.acceptWords("nowait")) {
      wait = "nowait";
    } else if (in.acceptWords("skip", "locked")) {
      wait = "skip locked";
    }
    call.append(quoted(wait)).append("), ");
    if (level.distinct || level.setOperation) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "FOR UPDATE is not allowed with "
                  + (level.distinct ? "DISTINCT clause" : "UNION/INTERSECT/EXCEPT"))
          .withPosition(first.start() + 1);
    }
    insert(level.selectList, call.toString());
  }

  /// TABLESAMPLE becomes one more part of the name of the table, in front of its alias.
  private void sample() {
    Token before = in.peek(-1);
    Token beforeThat = in.peek(-2);
    int end = text.length();
    boolean hasAlias =
        beforeThat.isWord("as")
            || (beforeThat.isIdentifier()
                && !(beforeThat.kind() == Token.Kind.WORD
                    && Operands.isKeyword(beforeThat.text())));
    if (hasAlias) {
      end -= quoted(before.text()).length() + 1;
      if (text.substring(0, end).endsWith(" as ") && beforeThat.isWord("as")) {
        end -= "as ".length();
      }
    }
    insert(end, "." + quoted(SampleClause.parse(in).name()) + " ");
  }

  private void withTies(Level level, Token token) {
    in.at += 2;
    if (level.selectList < 0 || level.setOperation) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED, "WITH TIES of a set operation is not supported")
          .withPosition(token.start() + 1);
    }
    emit("only ", token.start());
    insert(level.selectList, quoted(TIES_CALL) + "(), ");
  }

  private static String quoted(String name) {
    return "\"" + name.replace("\"", "\"\"") + "\"";
  }

  /// Refuses a statement of WITH that changes rows: at the top level it does not come here.
  private void refuseChanges(int ahead) {
    if (in.peek(ahead).isOperator("(")
        && StatementParser.CHANGES.contains(in.peek(ahead + 1).text())
        && in.peek(ahead + 1).kind() == Token.Kind.WORD
        && in.peek(ahead + 2).kind() == Token.Kind.WORD) {
      throw StatementParser.notAtTopLevel(in.peek(ahead + 1).start() + 1);
    }
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

  /// `date '...'`, `interval '1' day`: a cast of a literal.
  private boolean typedLiteral(Token token) {
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
    if (type.oid() == TypeOid.INTERVAL) {
      String field = in.intervalFields();
      value = field.isEmpty() ? value : value + " " + field;
    }
    int start = text.length();
    emit("cast(", token.start());
    literal(new Source.Literal.Text(value), token);
    emit(" as " + typeText(type) + ") ", token.start());
    operandStart = start;
    return true;
  }

  private void extract(Token token) {
    Token field = in.peek(2);
    if (!in.peek(3).isWord("from")
        || (!field.isIdentifier() && field.kind() != Token.Kind.STRING)) {
      in.at++;
      identifier(token);
      return;
    }
    in.at += 4;
    levels.push(new Level(text.length()));
    emit("\"extract\"(", token.start());
    literal(new Source.Literal.Text(field.text()), field);
    emit(", ", field.start());
  }

  private void type() {
    int start = in.peek().start();
    emit(typeText(in.type()) + " ", start);
  }

  private static String typeText(SqlType type) {
    return "\"" + type.oid() + ":" + type.typeModifier() + "\"";
  }

  /// The type that [#typeText(SqlType)] wrote.
  static @Nullable SqlType parseType(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      return null;
    }
    int oid = Integer.parseInt(text.substring(0, colon));
    return Types.isKnown(oid)
        ? new SqlType(oid, Integer.parseInt(text.substring(colon + 1)))
        : null;
  }

  private boolean afterDot() {
    return in.at > 0 && in.peek(-1).isOperator(".");
  }

  private boolean afterAs() {
    return previousIs("as");
  }

  private void identifier(Token token) {
    if (in.at < 2 || !in.peek(-2).isOperator(".")) {
      operandStart = text.length();
    }
    emit(quoted(token.text()) + " ", token.start());
    afterName = true;
  }

  private void literal(Source.Literal literal, Token token) {
    literals.add(literal);
    operandStart = text.length();
    emit("? ", token.start());
  }

  private void insert(int at, String piece) {
    insert(at, piece, positions[Math.min(at, text.length() - 1)]);
  }

  private void insert(int at, String piece, int offset) {
    emit(piece, offset);
    int moved = text.length() - piece.length() - at;
    text.setLength(text.length() - piece.length());
    text.insert(at, piece);
    System.arraycopy(positions, at, positions, at + piece.length(), moved);
    java.util.Arrays.fill(positions, at, at + piece.length(), offset);
    signs = moved(signs, at, piece.length());
  }

  private static Set<Integer> moved(Set<Integer> signs, int at, int by) {
    if (signs.isEmpty()) {
      return signs;
    }
    Set<Integer> moved = new HashSet<>();
    for (int sign : signs) {
      moved.add(sign < at ? sign : sign + by);
    }
    return moved;
  }

  private void emit(String piece, int offset) {
    afterName = false;
    int needed = text.length() + piece.length();
    if (needed > positions.length) {
      positions = java.util.Arrays.copyOf(positions, Math.max(needed, positions.length * 2));
    }
    java.util.Arrays.fill(positions, text.length(), needed, offset);
    text.append(piece);
  }
}
