package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;

/// Keywords: those of clauses that Calcite's parser does not take as they are, and what the others say of the query that they are in.
final class KeywordSpelling {
  private static final Set<String> AFTER_SELECT_LIST =
      Set.of("from", "where", "group", "having", "order", "limit", "union", "intersect", "except");

  private static final Set<String> AFTER_GROUP_BY =
      Set.of(
          "having",
          "window",
          "order",
          "limit",
          "offset",
          "fetch",
          "for",
          "union",
          "intersect",
          "except");

  private static final Set<String> LOCKS = Set.of("update", "share", "no", "key");

  /// How a clause is written that Calcite's grammar does not have so.
  private interface Form {
    /// Reads the clause whose keyword comes next, if it is meant so here.
    boolean read(KeywordSpelling keywords, Token token, NestingLevel level);
  }

  private static final Map<String, Form> FORMS =
      Map.of(
          "for", (keywords, token, level) -> keywords.locks(level),
          "limit", (keywords, token, level) -> keywords.rowCount(),
          "offset", (keywords, token, level) -> keywords.rowCount(),
          "fetch", (keywords, token, level) -> keywords.fetch(),
          "using", KeywordSpelling::using,
          "with", (keywords, token, level) -> keywords.ordinality(),
          "lateral", (keywords, token, level) -> keywords.lateral(),
          "all", (keywords, token, level) -> keywords.groupByAll(token),
          "distinct", KeywordSpelling::distinctOn);

  /// An open CASE.
  ///
  /// @param start where in `text` it begins
  /// @param chain that it is in
  private record Case(int start, NestingLevel.Chain chain) {}

  private final SpellingTranslator translator;
  private final TokenReader in;
  private final TranslatedText out;
  private final Deque<Case> cases = new ArrayDeque<>();

  KeywordSpelling(SpellingTranslator translator) {
    this.translator = translator;
    this.in = translator.in;
    this.out = translator.out;
  }

  /// Number of CASE whose END is still to come.
  int openCases() {
    return cases.size();
  }

  /// A keyword, which comes next.
  void read(Token token) {
    NestingLevel level = translator.levels.getFirst();
    String word = token.text();
    Form form = FORMS.get(word);
    if (form != null && form.read(this, token, level)) {
      return;
    }
    in.at++;
    if (word.equals("order")) {
      order(token, level);
    }
    boolean isFrom =
        word.equals("from") && !level.hasArguments() && !in.peek(-2).isWord("distinct");
    level.query.enter(word, isFrom);
    boolean withinGroup = in.at > 1 && in.peek(-2).isWord("within");
    if (!withinGroup && level.query.lacksFrom(word)) {
      out.emit("from (values (", token.start());
      out.literal(new Source.Literal.NumberText("1"), token);
      out.emit(")) as \"" + Marks.DUAL + "\" ", token.start());
    }
    int start = out.length();
    out.emit(word + " ", token.start());
    if (word.equals("select")) {
      selectList(token, level);
    }
    operand(word, start, level);
  }

  private boolean locks(NestingLevel level) {
    if (!level.query.hasSelect() || !LOCKS.contains(in.peek(1).text())) {
      return false;
    }
    translator.clauses.rowLocks(level);
    return true;
  }

  private boolean rowCount() {
    translator.clauses.rowCount();
    return true;
  }

  private boolean fetch() {
    translator.clauses.fetch();
    return true;
  }

  private boolean using(Token token, NestingLevel level) {
    boolean list = in.peek(1).isOperator("(");
    if (in.peek(1).kind() == Token.Kind.OPERATOR && !list) {
      translator.clauses.sortOperator();
      return true;
    }
    if (!list || !level.query.inFrom()) {
      return false;
    }
    translator.from.using(token);
    return true;
  }

  private boolean ordinality() {
    if (!in.peek(1).isWord("ordinality") || !in.peek(-1).isOperator(")")) {
      return false;
    }
    translator.from.ordinality();
    return true;
  }

  /// Functions may name what is on the left of them also without LATERAL.
  private boolean lateral() {
    if (!in.peek(1).isIdentifier()) {
      return false;
    }
    in.at++;
    return true;
  }

  /// ALL as the whole of GROUP BY. In front of a list Calcite's parser takes it as PostgreSQL does.
  private boolean groupByAll(Token token) {
    Token next = in.peek(1);
    boolean ends =
        next.kind() == Token.Kind.END
            || next.isOperator(")")
            || (next.kind() == Token.Kind.WORD && AFTER_GROUP_BY.contains(next.text()));
    if (!ends || in.at < 2 || !in.peek(-1).isWord("by") || !in.peek(-2).isWord("group")) {
      return false;
    }
    in.at++;
    out.emit(TranslatedText.quoted(Marks.GROUP_BY_ALL_CALL) + "() ", token.start());
    return true;
  }

  private boolean distinctOn(Token token, NestingLevel level) {
    if (!in.peek(1).isWord("on") || !in.peek(2).isOperator("(")) {
      return false;
    }
    in.at += 2;
    out.operandStart = out.length();
    out.emit(TranslatedText.quoted(Marks.DISTINCT_ON_CALL), token.start());
    level.query.beginDistinctOn();
    return true;
  }

  private void order(Token token, NestingLevel level) {
    if (level.hasArguments()) {
      translator.arguments.end(token);
      // ORDER BY of an aggregate: Calcite's parser knows WITHIN GROUP only.
      out.emit(") within group (", token.start());
    }
    level.ordered = true;
  }

  /// The select list begins.
  private void selectList(Token token, NestingLevel level) {
    if (level.call != null) {
      level.call.beginQuery();
    }
    level.query.beginSelectList(out.length(), in.peek().isWord("distinct"));
    if (endsSelectList(in.peek())) {
      out.emit(TranslatedText.quoted(Marks.NO_COLUMNS_CALL) + "() ", token.start());
    }
  }

  private static boolean endsSelectList(Token token) {
    return token.kind() == Token.Kind.END
        || token.isOperator(")")
        || (token.kind() == Token.Kind.WORD && AFTER_SELECT_LIST.contains(token.text()));
  }

  /// Notes what a keyword says of the operand that ends with it.
  ///
  /// @param start where in `text` the keyword begins
  private void operand(String word, int start, NestingLevel level) {
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
        if (SpellingTranslator.CALL_KEYWORDS.contains(word)) {
          out.operandStart = start;
          out.afterName = true;
        }
      }
    }
  }
}
