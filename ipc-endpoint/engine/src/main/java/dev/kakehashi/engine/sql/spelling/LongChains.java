package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Keeps what Calcite's parser takes as one list of operators short: its time grows with the square of the list, and nothing ends it
/// meanwhile.
///
/// AND and OR may be as many as PostgreSQL takes: what they stand between gets parentheses, a few hundred operators each, which leaves
/// their order as it is. A chain of other operators is a level of calls for each of them, in PostgreSQL, too, so that the stack bounds it;
/// here a number does.
///
/// Used by one thread.
final class LongChains {
  /// Operators without AND or OR between them. PostgreSQL's stack of 2 MB holds fewer than 5,000.
  static final int MAX_OPERATORS = 5_000;

  /// Operators that a pair of parentheses takes: their number and that of the groups are what the tree of a chain is deep.
  private static final int GROUP_OPERATORS = 256;

  /// Operators that the parser looks at the whole list for, once more each. PostgreSQL takes no two of them in a row.
  private static final Set<String> TERNARY = Set.of("between", "like", "ilike", "similar");

  /// For how many others one of them counts.
  private static final int TERNARY_WEIGHT = 50;

  /// The same among those that get parentheses.
  private static final int TERNARY_GROUP_WEIGHT = 8;

  /// Words that an expression begins behind. None can be a name.
  private static final Set<String> BEFORE_EXPRESSION =
      Set.of("select", "when", "then", "else", "where", "having");

  /// Words that end an expression. None can be a name, nor is one a part of an operator.
  private static final Set<String> BEHIND_EXPRESSION =
      Set.of(
          "using",
          "union",
          "intersect",
          "except",
          "limit",
          "offset",
          "fetch",
          "window",
          "returning",
          "join",
          "as");

  private static final Set<String> BEFORE_BY = Set.of("order", "group", "partition");

  private static final Set<String> OPERATOR_WORDS =
      Set.of(
          "not",
          "is",
          "in",
          "escape",
          "collate",
          "at",
          "isnull",
          "notnull",
          "overlaps",
          "any",
          "some",
          "all");

  /// Part of a chain that gets parentheses.
  private static final class Group {
    private final int from;

    /// The first one has been written.
    private boolean open;

    Group(int from) {
      this.from = from;
    }
  }

  /// One expression, as far as it has been read. Indexes are those of tokens; -1: not known.
  private static final class Level {
    private final boolean ofCase;
    private int between;
    private int operators;
    private int orStart;
    private int orOperators;
    private int orGroups;
    private int andStart;
    private int andOperators;
    private int andGroups;

    Level(boolean ofCase, int start) {
      this.ofCase = ofCase;
      begin(start);
    }

    void begin(int start) {
      between = 0;
      orStart = start;
      orOperators = 0;
      orGroups = 0;
      term(start);
    }

    /// An operand of OR begins.
    private void term(int start) {
      operators = 0;
      andStart = start;
      andOperators = 0;
      andGroups = 0;
    }
  }

  private final List<Token> tokens;
  private final Deque<Level> levels = new ArrayDeque<>();
  private final Map<Integer, List<Group>> opening = new HashMap<>();
  private final Map<Integer, List<Group>> closing = new HashMap<>();

  /// @throws EngineException LIMIT_EXCEEDED for a chain that is too long
  LongChains(List<Token> tokens) {
    this.tokens = tokens;
    if (tokens.size() > GROUP_OPERATORS) {
      levels.push(new Level(false, 0));
      for (int i = 0; i < tokens.size(); i++) {
        if (i % 1024 == 0) {
          Interrupts.check();
        }
        read(i);
      }
    }
  }

  /// Writes the parentheses that stand in front of a token.
  void before(int at, TranslatedText out) {
    if (closing.isEmpty()) {
      return;
    }
    for (Group each : closing.getOrDefault(at, List.of())) {
      if (each.open) {
        out.emit(") ", tokens.get(at).start());
      }
    }
    for (Group each : opening.getOrDefault(at, List.of())) {
      each.open = true;
      out.emit("(", tokens.get(at).start());
    }
  }

  private void read(int i) {
    Token token = tokens.get(i);
    if (token.kind() == Token.Kind.OPERATOR) {
      operator(token, i);
    } else if (token.kind() == Token.Kind.WORD && !isLabel(i)) {
      word(token.text(), i);
    }
  }

  private boolean isLabel(int i) {
    return i > 0 && (tokens.get(i - 1).isOperator(".") || tokens.get(i - 1).isWord("as"));
  }

  private void operator(Token token, int i) {
    switch (token.text()) {
      case "(" -> levels.push(new Level(false, i + 1));
      case "[" -> {
        count(i);
        levels.push(new Level(false, i + 1));
      }
      case ")", "]" -> close();
      case ",", "=>", ":=" -> levels.getFirst().begin(i + 1);
      case ".", ";" -> {}
      default -> count(i);
    }
  }

  /// Whether a parenthesis is open shows later; here a wrong one is taken.
  private void close() {
    if (levels.size() > 1) {
      levels.pop();
    }
  }

  private void word(String word, int i) {
    Level level = levels.getFirst();
    if (word.equals("or")) {
      or(level, i);
    } else if (word.equals("and")) {
      if (level.between > 0) {
        level.between--;
        count(i);
      } else {
        and(level, i);
      }
    } else if (TERNARY.contains(word)) {
      level.between += word.equals("between") ? 1 : 0;
      count(i, TERNARY_WEIGHT, TERNARY_GROUP_WEIGHT);
    } else if (word.equals("case")) {
      levels.push(new Level(true, i + 1));
    } else if (word.equals("end")) {
      if (level.ofCase) {
        close();
      }
    } else if (OPERATOR_WORDS.contains(word)) {
      count(i);
      notFirst(level, i, "all");
    } else if (word.equals("distinct")) {
      count(i);
      notFirst(level, i, word);
    } else if (BEFORE_EXPRESSION.contains(word) || isBy(word, i)) {
      level.begin(i + 1);
    } else if (word.equals("on")) {
      level.begin(follows(i, "distinct") ? -1 : i + 1);
    } else if (BEHIND_EXPRESSION.contains(word)
        || (word.equals("from") && !follows(i, "distinct"))) {
      level.begin(-1);
    }
  }

  private boolean follows(int i, String word) {
    return i > 0 && tokens.get(i - 1).isWord(word);
  }

  private boolean isBy(String word, int i) {
    return word.equals("by") && i > 0 && BEFORE_BY.contains(tokens.get(i - 1).text());
  }

  /// DISTINCT and ALL of a select list are no part of its first expression.
  private void notFirst(Level level, int i, String word) {
    if (level.orStart == i && tokens.get(i).isWord(word)) {
      level.begin(-1);
    }
  }

  private void count(int i) {
    count(i, 1, 1);
  }

  private void count(int i, int weight, int groupWeight) {
    Level level = levels.getFirst();
    level.orOperators += groupWeight;
    level.andOperators += groupWeight;
    level.operators += weight;
    bound(level.operators, i);
  }

  private void or(Level level, int i) {
    level.orOperators++;
    if (level.orStart < 0 || level.orOperators >= GROUP_OPERATORS) {
      bound(++level.orGroups, i);
      group(level.orStart, i);
      level.orStart = i + 1;
      level.orOperators = 0;
    }
    level.term(i + 1);
  }

  private void and(Level level, int i) {
    level.orOperators++;
    level.andOperators++;
    if (level.andStart < 0 || level.andOperators >= GROUP_OPERATORS) {
      bound(++level.andGroups, i);
      group(level.andStart, i);
      level.andStart = i + 1;
      level.andOperators = 0;
    }
    level.operators = 0;
  }

  private void group(int from, int to) {
    if (from >= 0) {
      Group group = new Group(from);
      opening.computeIfAbsent(group.from, _ -> new ArrayList<>(2)).add(group);
      closing.computeIfAbsent(to, _ -> new ArrayList<>(2)).add(group);
    }
  }

  private void bound(int count, int i) {
    if (count > MAX_OPERATORS) {
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "expression has more than " + MAX_OPERATORS + " operators in a row")
          .withHint("Put parts of it into parentheses, or use an aggregate over rows.")
          .withPosition(tokens.get(i).start() + 1);
    }
  }
}
