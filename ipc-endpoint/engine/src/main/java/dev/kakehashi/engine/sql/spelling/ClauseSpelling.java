package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.plan.PlanNode.LockWait;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Clauses of queries that Calcite's parser does not take, or not as PostgreSQL writes them: frames, LIMIT, FETCH, row locks, samples.
final class ClauseSpelling {
  /// Words that follow the expression of LIMIT, OFFSET or FETCH.
  private static final Set<String> AFTER_COUNT =
      Set.of("limit", "offset", "fetch", "for", "row", "rows", "union", "intersect", "except");

  private final SpellingTranslator translator;
  private final TokenReader in;
  private final TranslatedText out;

  ClauseSpelling(SpellingTranslator translator) {
    this.translator = translator;
    this.in = translator.in;
    this.out = translator.out;
  }

  /// A frame clause becomes one more item of the window's ORDER BY: a call with mode, bounds and exclusion.
  void frame(NestingLevel level) {
    Token mode = in.next();
    out.emit(
        (level.ordered ? ", " : "order by ") + TranslatedText.quoted(Marks.FRAME_CALL),
        mode.start());
    out.emit("(" + TranslatedText.quoted("kh " + mode.text()), mode.start());
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
          out.emit(", " + TranslatedText.quoted("kh exclude " + exclusion), mode.start());
          break;
        }
      }
    }
    out.emit(") ", mode.start());
  }

  private void bound() {
    int start = in.peek().start();
    for (String bound : List.of("unbounded preceding", "unbounded following", "current row")) {
      if (in.acceptWords(bound.split(" ", -1))) {
        out.emit(", " + TranslatedText.quoted("kh " + bound), start);
        return;
      }
    }
    out.emit(", ", start);
    int depth = translator.levels.size();
    while (translator.levels.size() > depth
        || !(in.peek().isWord("preceding") || in.peek().isWord("following"))) {
      if (in.atEnd() || translator.levels.size() < depth) {
        throw in.syntaxError();
      }
      translator.token();
    }
    out.emit(", " + TranslatedText.quoted("kh " + in.next().text()), start);
  }

  /// LIMIT and OFFSET, which Calcite takes in this order.
  void rowCount() {
    Token clause = in.next();
    boolean offset = clause.isWord("offset");
    if (!offset && in.acceptWords("all")) {
      return;
    }
    Source.Literal count = translator.count();
    if (offset) {
      if (!in.acceptWords("rows")) {
        in.acceptWords("row");
      }
      if (in.peek().isWord("limit")) {
        rowCount();
      }
    }
    out.emit(clause.text() + " ", clause.start());
    out.literal(count, clause);
  }

  /// SEARCH and CYCLE behind a query of WITH in a subquery become one more query of that WITH; those of the statement's own WITH do not
  /// come here.
  ///
  /// @return whether that is what comes
  boolean traversal(Token word) {
    if (in.at == 0 || !in.peek(-1).isOperator(")")) {
      return false;
    }
    boolean clause =
        word.isWord("search") && (in.peek(1).isWord("depth") || in.peek(1).isWord("breadth"));
    if (word.isWord("cycle")) {
      int ahead = 1;
      while (in.peek(ahead).isIdentifier() && in.peek(ahead + 1).isOperator(",")) {
        ahead += 2;
      }
      clause = in.peek(ahead).isIdentifier() && in.peek(ahead + 1).isWord("set");
    }
    if (!clause) {
      return false;
    }
    Source.Literal traversal =
        new Source.Literal.Path(TraversalParser.traversal(translator.sql, in));
    out.emit(", " + TranslatedText.quoted(Marks.TRAVERSAL_QUERY) + " as (values (", word.start());
    out.literal(traversal, word);
    out.emit(")) ", word.start());
    return true;
  }

  void fetch() {
    Token clause = in.next();
    if (!in.acceptWords("first")) {
      in.expectWord("next");
    }
    boolean one = in.peek().isWord("row") || in.peek().isWord("rows");
    out.emit("fetch first ", clause.start());
    Source.Literal count = one ? new Source.Literal.NumberText("1") : translator.count();
    if (!in.acceptWords("row")) {
      in.expectWord("rows");
    }
    if (in.acceptWords("with", "ties")) {
      count = new Source.Literal.WithTies(count);
    } else {
      in.expectWord("only");
    }
    out.literal(count, clause);
    out.emit("rows only ", clause.start());
  }

  static boolean endsCount(Token token) {
    return token.kind() == Token.Kind.END
        || token.isOperator(")")
        || token.isOperator(";")
        || (token.kind() == Token.Kind.WORD && AFTER_COUNT.contains(token.text()));
  }

  /// `USING <` and `USING >` behind a key of ORDER BY.
  void sortOperator() {
    in.at++;
    Token operator = in.next();
    switch (operator.text()) {
      case "<" -> {}
      case ">" -> out.emit("desc ", operator.start());
      default ->
          throw new EngineException(
                  ErrorCode.WRONG_OBJECT_TYPE,
                  "operator " + operator.text() + " is not a valid ordering operator")
              .withPosition(operator.start() + 1)
              .withHint(
                  "Ordering operators must be \"<\" or \">\" members of btree operator families.");
    }
  }

  /// FOR UPDATE and its relatives become calls in front of the select list: the tables, then the strength and the wait policy.
  void rowLocks(NestingLevel level) {
    Token first = in.next();
    LockStrength strength = LockClause.strength(in);
    StringBuilder call = new StringBuilder("\"" + Marks.LOCK_CALL + "\"(");
    if (in.acceptWords("of")) {
      do {
        call.append(TranslatedText.quoted(in.expectIdentifier())).append(", ");
      } while (in.acceptOperator(","));
    }
    LockWait wait = LockWait.WAIT;
    if (in.acceptWords("nowait")) {
      wait = LockWait.NOWAIT;
    } else if (in.acceptWords("skip", "locked")) {
      wait = LockWait.SKIP_LOCKED;
    } else if (in.acceptWords("to", "change")) {
      wait = LockWait.TO_CHANGE;
    }
    call.append(TranslatedText.quoted(strength.name().toLowerCase(Locale.ROOT))).append(", ");
    call.append(TranslatedText.quoted(wait.name().toLowerCase(Locale.ROOT))).append("), ");
    if (level.query.isDistinct() || level.query.isSetOperation()) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              strength.clause()
                  + " is not allowed with "
                  + (level.query.isDistinct() ? "DISTINCT clause" : "UNION/INTERSECT/EXCEPT"))
          .withPosition(first.start() + 1);
    }
    out.insert(level.query.selectList(), call.toString());
  }

  /// TABLESAMPLE becomes one more part of the name of the table, in front of its alias.
  void sample() {
    Token before = in.peek(-1);
    Token beforeThat = in.peek(-2);
    int end = out.length();
    boolean hasAlias =
        beforeThat.isWord("as")
            || (beforeThat.isIdentifier()
                && !(beforeThat.kind() == Token.Kind.WORD
                    && Operands.isKeyword(beforeThat.text())));
    if (hasAlias) {
      end -= TranslatedText.quoted(before.text()).length() + 1;
      if (out.endsWith(end, " as ") && beforeThat.isWord("as")) {
        end -= "as ".length();
      }
    }
    out.insert(end, "." + TranslatedText.quoted(SampleClause.name(SampleClause.parse(in))) + " ");
  }
}
