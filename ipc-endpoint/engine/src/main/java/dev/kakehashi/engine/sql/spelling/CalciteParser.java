package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import org.apache.calcite.avatica.util.Casing;
import org.apache.calcite.avatica.util.Quoting;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParseException;
import org.apache.calcite.sql.parser.SqlParser;
import org.apache.calcite.sql.parser.babel.SqlBabelParserImpl;
import org.apache.calcite.sql.validate.SqlConformanceEnum;

/// Calcite's parser over text in Calcite's spelling. Stateless and thread-safe.
public final class CalciteParser {
  /// Message of whatever cannot be parsed; whoever has the tokens names the one that it is at.
  public static final String SYNTAX_ERROR = "syntax error";

  private static final int MAX_IDENTIFIER = 1024;

  private static final SqlParser.Config PARSER =
      SqlParser.config()
          .withParserFactory(SqlBabelParserImpl.FACTORY)
          .withQuoting(Quoting.DOUBLE_QUOTE)
          .withUnquotedCasing(Casing.TO_LOWER)
          .withQuotedCasing(Casing.UNCHANGED)
          .withCaseSensitive(true)
          .withConformance(SqlConformanceEnum.BABEL)
          .withIdentifierMaxLength(MAX_IDENTIFIER);

  private CalciteParser() {}

  public static SqlNode parse(Source source) {
    try {
      return SqlParser.create(new StatementReader(source.text()), PARSER).parseStmt();
    } catch (SqlParseException refused) {
      throw syntaxError(source, refused);
    }
  }

  public static SqlNode parseExpression(Source source) {
    try {
      return SqlParser.create(new StatementReader(source.text()), PARSER).parseExpression();
    } catch (SqlParseException refused) {
      throw syntaxError(source, refused);
    }
  }

  private static EngineException syntaxError(Source source, SqlParseException refused) {
    // The parser takes whatever ends its reading for a mistake in the text.
    Interrupts.check();
    if (refused.getCause() instanceof StackOverflowError tooDeep) {
      throw tooDeep;
    }
    // The parser names all tokens that its lookahead took: the last one is where it gave up.
    boolean atEnd = String.valueOf(refused.getMessage()).contains("<EOF>\" at line");
    int position =
        atEnd || refused.getPos() == null
            ? source.end() + 1
            : source.position(refused.getPos().getColumnNum());
    return new EngineException(ErrorCode.SYNTAX_ERROR, SYNTAX_ERROR).withPosition(position);
  }
}
