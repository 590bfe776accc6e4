package dev.kakehashi.engine.sql.lexer;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.IntervalFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// A position in a list of tokens, with what DDL and the translator both read: words, names, types.
public final class TokenReader {
  private final String sql;
  private final List<Token> tokens;
  public int at;

  public TokenReader(String sql, List<Token> tokens, int at) {
    this.sql = sql;
    this.tokens = tokens;
    this.at = at;
  }

  public List<Token> tokens() {
    return tokens;
  }

  public Token peek() {
    return tokens.get(at);
  }

  public Token peek(int ahead) {
    return tokens.get(Math.min(at + ahead, tokens.size() - 1));
  }

  public Token next() {
    Token token = tokens.get(at);
    if (token.kind() != Token.Kind.END) {
      at++;
    }
    return token;
  }

  /// Consumes the rest of the statement.
  public String rest() {
    int start = peek().start();
    int end = start;
    while (!atEnd()) {
      end = next().end();
    }
    if (end == start) {
      throw syntaxError();
    }
    return sql.substring(start, end);
  }

  /// Consumes the statement up to the operator outside of parentheses, which may be missing.
  public String rest(String operator) {
    int start = peek().start();
    int end = start;
    for (int depth = 0; !atEnd() && !(depth == 0 && peek().isOperator(operator)); ) {
      Token token = next();
      depth += token.isOperator("(") || token.isOperator("[") ? 1 : 0;
      depth -= token.isOperator(")") || token.isOperator("]") ? 1 : 0;
      if (token.isOperator(";")) {
        at--;
        break;
      }
      end = token.end();
    }
    if (end == start) {
      throw syntaxError();
    }
    return sql.substring(start, end);
  }

  /// Consumes an expression in parentheses, of which the result is without these.
  public String parenthesised() {
    expectOperator("(");
    int start = peek().start();
    int end = start;
    for (int depth = 0; depth > 0 || !peek().isOperator(")"); ) {
      Token token = next();
      if (token.kind() == Token.Kind.END) {
        throw syntaxError();
      }
      depth += token.isOperator("(") ? 1 : token.isOperator(")") ? -1 : 0;
      end = token.end();
    }
    expectOperator(")");
    if (end == start) {
      throw syntaxError();
    }
    return sql.substring(start, end);
  }

  public boolean atEnd() {
    return peek().kind() == Token.Kind.END;
  }

  /// Consumes the words if all of them follow.
  public boolean acceptWords(String... words) {
    for (int i = 0; i < words.length; i++) {
      if (!peek(i).isWord(words[i])) {
        return false;
      }
    }
    at += words.length;
    return true;
  }

  public boolean acceptOperator(String operator) {
    if (peek().isOperator(operator)) {
      at++;
      return true;
    }
    return false;
  }

  public void expectWord(String word) {
    if (!acceptWords(word)) {
      throw syntaxError();
    }
  }

  public void expectOperator(String operator) {
    if (!acceptOperator(operator)) {
      throw syntaxError();
    }
  }

  public String expectIdentifier() {
    if (!peek().isIdentifier()) {
      throw syntaxError();
    }
    return next().text();
  }

  /// The name of a column, table or something else: in quotes if it is reserved.
  public String expectName() {
    if (peek().kind() == Token.Kind.WORD && ReservedWords.contains(peek().text())) {
      throw syntaxError();
    }
    return expectIdentifier();
  }

  /// Names in parentheses.
  public List<String> identifiers() {
    List<String> identifiers = new ArrayList<>();
    expectOperator("(");
    do {
      identifiers.add(expectName());
    } while (acceptOperator(","));
    expectOperator(")");
    return identifiers;
  }

  /// Takes CASCADE or RESTRICT if one follows.
  public boolean cascade() {
    if (acceptWords("cascade")) {
      return true;
    }
    acceptWords("restrict");
    return false;
  }

  /// A name, with the schema in front of it if there is one.
  public QualifiedName name() {
    int position = peek().start() + 1;
    String first = expectName();
    return acceptOperator(".")
        ? new QualifiedName(first, expectIdentifier(), position)
        : new QualifiedName(null, first, position);
  }

  /// A column with the name of its table in front.
  ///
  /// @param unqualified the message when there is none
  public QualifiedName.Column columnName(String unqualified) {
    QualifiedName name = name();
    if (acceptOperator(".")) {
      return new QualifiedName.Column(name, expectIdentifier());
    }
    String table = name.schema();
    if (table == null) {
      throw new EngineException(ErrorCode.SYNTAX_ERROR, unqualified).withPosition(name.position());
    }
    return new QualifiedName.Column(new QualifiedName(null, table, name.position()), name.name());
  }

  public void expectEnd() {
    while (acceptOperator(";")) {}
    if (!atEnd()) {
      throw syntaxError();
    }
  }

  /// At the next token.
  public EngineException notSupported(String what) {
    return notSupported(peek(), what);
  }

  public static EngineException notSupported(Token at, String what) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, what + " is not supported")
        .withPosition(at.start() + 1);
  }

  public EngineException syntaxError() {
    return syntaxErrorAt(sql, peek());
  }

  public static EngineException syntaxErrorAt(String sql, Token token) {
    String message =
        token.kind() == Token.Kind.END
            ? "syntax error at end of input"
            : "syntax error at or near \"" + sql.substring(token.start(), token.end()) + "\"";
    return new EngineException(ErrorCode.SYNTAX_ERROR, message).withPosition(token.start() + 1);
  }

  /// Whether a type name that the engine knows begins here.
  public boolean atKnownType() {
    int save = at;
    try {
      return peek().kind() == Token.Kind.WORD && Types.oid(typeName()) != 0;
    } finally {
      at = save;
    }
  }

  /// Reads a type with its modifiers.
  ///
  /// @throws EngineException UNDEFINED_OBJECT if there is no such type
  public SqlType type() {
    Token first = peek();
    if (!first.isIdentifier()) {
      throw syntaxError();
    }
    boolean quotedChar = first.kind() == Token.Kind.QUOTED_WORD && first.text().equals("char");
    String name = typeName();
    int oid = quotedChar ? TypeOid.CHAR : Types.oid(name);
    if (oid == 0) {
      throw new EngineException(ErrorCode.UNDEFINED_OBJECT, "type \"" + name + "\" does not exist")
          .withPosition(first.start() + 1);
    }
    List<Integer> modifiers = new ArrayList<>();
    if (acceptOperator("(")) {
      do {
        boolean negative = acceptOperator("-");
        Token token = next();
        if (token.kind() != Token.Kind.NUMBER || !isInteger(token.text())) {
          throw syntaxErrorAt(sql, token);
        }
        int value = Integer.parseInt(token.text());
        modifiers.add(negative ? -value : value);
      } while (acceptOperator(","));
      expectOperator(")");
    }
    if (quotedChar) {
      return arrays(SqlType.of(TypeOid.CHAR));
    }
    if (name.equals("interval") && modifiers.isEmpty()) {
      return arrays(interval());
    }
    oid = Types.oid(withTimeZone(name));
    if (modifiers.isEmpty() && (name.equals("char") || name.equals("character"))) {
      modifiers.add(1);
    }
    if (name.equals("float") && !modifiers.isEmpty()) {
      return arrays(SqlType.of(Types.oid(modifiers.get(0) <= 24 ? "float4" : "float8")));
    }
    return arrays(Types.of(oid, modifiers.stream().mapToInt(Integer::intValue).toArray()));
  }

  private static boolean isInteger(String number) {
    return number.length() < 10 && number.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /// `[]`, `[3]`, `[][]` or `ARRAY` after a type: dimensions and their sizes mean nothing, as in PostgreSQL.
  private SqlType arrays(SqlType element) {
    boolean array = acceptWords("array");
    while (acceptOperator("[")) {
      if (peek().kind() == Token.Kind.NUMBER) {
        at++;
      }
      expectOperator("]");
      array = true;
    }
    int oid = array ? TypeOid.arrayOf(element.oid()) : element.oid();
    return new SqlType(oid, element.typeModifier());
  }

  private String typeName() {
    String word = expectIdentifier();
    if (word.equals("pg_catalog") && peek().isOperator(".")) {
      at++;
      word = expectIdentifier();
    }
    if (word.equals("double") && acceptWords("precision")) {
      return "double precision";
    }
    if ((word.equals("character") || word.equals("char")) && acceptWords("varying")) {
      return "character varying";
    }
    return word;
  }

  private String withTimeZone(String name) {
    if (name.equals("timestamp") || name.equals("time")) {
      if (acceptWords("with", "time", "zone")) {
        return name + " with time zone";
      }
      acceptWords("without", "time", "zone");
    }
    return name;
  }

  /// interval with the fields that follow, if any do: `day`, `day to second(3)`.
  public SqlType interval() {
    IntervalFields fields = IntervalFields.ALL;
    if (peek().kind() == Token.Kind.WORD && IntervalFields.find(peek().text()) != null) {
      fields = intervalFields();
    }
    if (!fields.hasSeconds() || fields == IntervalFields.ALL || !acceptOperator("(")) {
      return Types.interval(fields);
    }
    Token digits = next();
    if (digits.kind() != Token.Kind.NUMBER || !isInteger(digits.text())) {
      throw syntaxErrorAt(sql, digits);
    }
    expectOperator(")");
    return Types.interval(fields, Integer.parseInt(digits.text()));
  }

  private IntervalFields intervalFields() {
    String first = next().text();
    Token last = peek(1);
    if (peek().isWord("to")) {
      IntervalFields fields = IntervalFields.find(first + " to " + last.text());
      if (fields == null || last.kind() != Token.Kind.WORD) {
        throw syntaxErrorAt(sql, last);
      }
      at += 2;
      return fields;
    }
    return Objects.requireNonNull(IntervalFields.find(first));
  }
}
