package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.spelling.NestingLevel.Purpose;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Turns PostgreSQL's spelling into one that Calcite's Babel parser takes with the same meaning.
///
/// Literals and parameters become `?`, types quoted names `"oid:modifier"`, words that are no keywords of our grammar
/// quoted identifiers (so that Calcite's reserved words are not reserved), `E''`, `$$`, `~~`, `extract` and `interval ''` plain calls.
/// Syntax that Calcite does not know at all becomes calls of functions whose names begin with `kh `: DEFAULT, FOR UPDATE.
public final class SpellingTranslator {
  /// First words of statements that change rows.
  public static final Set<String> CHANGES = Set.of("insert", "update", "delete", "merge");

  private static final Set<String> FRAME_MODES = Set.of("rows", "range", "groups");

  /// Keywords only before `(`, with an argument syntax of their own.
  static final Set<String> CALL_KEYWORDS = Set.of("substring", "trim", "position", "overlay");

  /// How a word is written that Calcite's grammar has in another form.
  private interface Form {
    /// Reads the word, which comes next, and what belongs to it, if it is meant so here.
    boolean read(SpellingTranslator translator, Token token);
  }

  private static final Map<String, Form> FORMS =
      Map.ofEntries(
          Map.entry("collate", (translator, token) -> translator.collate()),
          Map.entry("at", SpellingTranslator::atTimeZone),
          Map.entry("overlaps", SpellingTranslator::overlaps),
          Map.entry("tablesample", (translator, token) -> translator.sample()),
          Map.entry("search", SpellingTranslator::traversal),
          Map.entry("cycle", SpellingTranslator::traversal),
          Map.entry("variadic", SpellingTranslator::variadic),
          Map.entry("default", SpellingTranslator::byDefault),
          Map.entry("table", SpellingTranslator::table),
          Map.entry("extract", SpellingTranslator::extract),
          Map.entry("cast", SpellingTranslator::cast),
          Map.entry("ignore", SpellingTranslator::nullTreatment),
          Map.entry("respect", SpellingTranslator::nullTreatment),
          Map.entry("row", SpellingTranslator::row),
          Map.entry("rows", SpellingTranslator::rows),
          Map.entry("array", (translator, token) -> translator.array()));

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
  private final LongChains chains;
  private final OperatorSpelling operators;
  final KeywordSpelling keywords;
  final ClauseSpelling clauses;
  private final BracketSpelling brackets;
  final FromSpelling from;
  private final LiteralSpelling literals;
  final ArgumentSpelling arguments;

  /// One entry per open parenthesis and one for the statement.
  final Deque<NestingLevel> levels = new ArrayDeque<>();

  private SpellingTranslator(String sql, List<Token> tokens, LongChains chains) {
    this.sql = sql;
    this.chains = chains;
    this.in = new TokenReader(sql, tokens, 0);
    this.operators = new OperatorSpelling(this);
    this.clauses = new ClauseSpelling(this);
    this.brackets = new BracketSpelling(this);
    this.from = new FromSpelling(this);
    this.literals = new LiteralSpelling(this);
    this.arguments = new ArgumentSpelling(this);
    this.keywords = new KeywordSpelling(this);
  }

  /// Translates a query, a condition or an expression; the last token is of kind END.
  ///
  /// @param prefix text in front of it
  static Source translate(String sql, List<Token> tokens, String prefix) {
    SpellingTranslator translator = new SpellingTranslator(sql, tokens, new LongChains(tokens));
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
    chains.before(in.at, out);
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
      case "(" -> open(token);
      case ")" -> close(token);
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

  /// A parenthesis, which has been read.
  private void open(Token token) {
    NestingLevel around = levels.getFirst();
    boolean call = out.afterName;
    boolean continues = in.at > 1 && OperatorSpelling.continuesCall(in.peek(-2));
    NestingLevel level =
        new NestingLevel(
            call ? Purpose.GROUP : purpose(around),
            call || continues ? out.operandStart : out.length());
    if (call) {
      level.call = new CallArguments(from.beginsFunction(around), arguments.isOfSyntax());
    }
    if (level.is(Purpose.TABLE)) {
      level.query.continueFrom();
    }
    if (in.at > 1 && in.peek(-2).isWord("as")) {
      refuseChanges(-1);
    }
    if (level.is(Purpose.QUERY_CALL)) {
      arguments.beginPartition(level, token);
    }
    levels.push(level);
    out.emit(level.call != null && level.call.ofTable ? "((" : "(", token.start());
    level.inside = out.length();
  }

  /// Purpose of a parenthesis that has been read and is no call's.
  private Purpose purpose(NestingLevel around) {
    Token before = in.at > 1 ? in.peek(-2) : in.peek();
    if (in.at > 1
        && (before.isWord("over") || (around.query.inWindowClause() && before.isWord("as")))) {
      return Purpose.WINDOW;
    }
    if (in.at > 2 && before.isWord("on") && in.peek(-3).isWord("distinct")) {
      return Purpose.DISTINCT_ON;
    }
    if (from.beginsTable(around)) {
      return Purpose.TABLE;
    }
    return arguments.beginsPartition(around) ? Purpose.QUERY_CALL : Purpose.GROUP;
  }

  private void close(Token token) {
    if (levels.size() == 1) {
      throw TokenReader.syntaxErrorAt(sql, token);
    }
    arguments.end(token);
    String alias = from.columnDefinitions(token);
    NestingLevel closed = levels.pop();
    from.close(closed);
    String end =
        switch (closed.purpose) {
          case DISTINCT_ON -> "), ";
          case QUERY_CALL -> ")) ";
          default -> ") ";
        };
    out.emit(end, token.start());
    if (closed.call != null) {
      levels.getFirst().callEnd = out.length();
    }
    out.operandStart = closed.start;
    from.alias(alias, token);
  }

  private void word(Token token) {
    String word = token.text();
    boolean call = isCall();
    if (afterDot()) {
      in.at++;
      identifier(token);
    } else if (afterAs()) {
      asTarget(token);
    } else if (literals.typed(token)) {
      return;
    } else if (in.at > 0 && operators.likeQuantified(token)) {
      return;
    } else if (FORMS.containsKey(word) && FORMS.get(word).read(this, token)) {
      return;
    } else if (levels.getFirst().is(Purpose.WINDOW)
        && FRAME_MODES.contains(word)
        && beginsBound()) {
      clauses.frame(levels.getFirst());
    } else if (isKeyword(word, call)) {
      keywords.read(token);
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

  private boolean isCall() {
    return in.peek(1).isOperator("(");
  }

  private boolean collate() {
    if (in.at == 0 || !in.peek(1).isIdentifier()) {
      return false;
    }
    operators.collate();
    return true;
  }

  private boolean atTimeZone(Token token) {
    if (in.at == 0 || !operators.atTimeZone()) {
      return false;
    }
    in.at += 3;
    operators.infixCall(Marks.AT_TIME_ZONE_CALL, token);
    return true;
  }

  private boolean overlaps(Token token) {
    if (!isCall() || !in.peek(-1).isOperator(")")) {
      return false;
    }
    in.at++;
    operators.infixCall("overlaps", token);
    return true;
  }

  private boolean sample() {
    if (!in.peek(2).isOperator("(") || !in.peek(-1).isIdentifier()) {
      return false;
    }
    clauses.sample();
    return true;
  }

  private boolean traversal(Token token) {
    if (!clauses.traversal(token)) {
      in.at++;
      identifier(token);
    }
    return true;
  }

  private boolean variadic(Token token) {
    arguments.variadic(token);
    return true;
  }

  private boolean byDefault(Token token) {
    in.at++;
    int start = out.length();
    if (in.acceptWords("values")) {
      out.emit("values (\"" + Marks.DEFAULT_CALL + "\"()) ", token.start());
    } else {
      out.emit("\"" + Marks.DEFAULT_CALL + "\"() ", token.start());
    }
    out.operandStart = start;
    return true;
  }

  private boolean table(Token token) {
    if (!beginsQuery()) {
      return false;
    }
    in.at++;
    out.emit("select * from ", token.start());
    return true;
  }

  private boolean extract(Token token) {
    if (!isCall()) {
      return false;
    }
    literals.extract(token);
    return true;
  }

  private boolean cast(Token token) {
    if (!isCall()) {
      return false;
    }
    in.at += 2;
    levels.push(new NestingLevel(Purpose.CAST, out.length()));
    out.emit("cast(", token.start());
    return true;
  }

  /// IGNORE NULLS and RESPECT NULLS, which Calcite's parser takes right behind the arguments of a call.
  private boolean nullTreatment(Token token) {
    int end = levels.getFirst().callEnd;
    if (end < 0 || !in.peek(1).isWord("nulls") || !in.peek(-1).isOperator(")")) {
      return false;
    }
    in.at += 2;
    int start = out.operandStart;
    out.insert(end, token.text() + " nulls ", token.start());
    out.operandStart = start;
    return true;
  }

  private boolean row(Token token) {
    if (!isCall()) {
      return false;
    }
    in.at++;
    out.operandStart = out.length();
    out.emit(TranslatedText.quoted(Marks.ROW_CALL), token.start());
    out.afterName = true;
    return true;
  }

  private boolean rows(Token token) {
    if (!from.isRowsFrom(0)) {
      return false;
    }
    from.rowsFrom(token);
    return true;
  }

  private boolean array() {
    if (!in.peek(1).isOperator("[")) {
      return false;
    }
    brackets.constructor();
    return true;
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
      return levels.getFirst().query.hasSelect() && in.peek(2).isWord("as");
    }
    if (word.equals("partition")) {
      return levels.getFirst().is(Purpose.WINDOW);
    }
    return Operands.isKeyword(word);
  }

  private boolean beginsQuery() {
    return in.at == 0
        || in.peek(-1).isOperator("(")
        || QueryClauses.SET_OPERATIONS.contains(in.peek(-1).text())
        || (previousIs("all")
            && in.at > 1
            && QueryClauses.SET_OPERATIONS.contains(in.peek(-2).text()));
  }

  private boolean beginsBound() {
    Token next = in.peek(1);
    return !next.isOperator(",") && !next.isOperator(")") && !next.isWord("order");
  }

  /// The expression of LIMIT, OFFSET or FETCH, for itself.
  Source.Literal count() {
    SpellingTranslator expression = new SpellingTranslator(sql, in.tokens(), chains);
    expression.in.at = in.at;
    expression.levels.push(new NestingLevel(0));
    while (!(expression.levels.size() == 1
        && expression.keywords.openCases() == 0
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

  private boolean previousIs(String word) {
    return in.at > 0 && in.peek(-1).isWord(word);
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
    if (levels.getFirst().is(Purpose.CAST)) {
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
