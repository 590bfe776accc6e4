package dev.kakehashi.tools.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SqlScannerTest {
  private final Variables variables = new Variables();
  private final SqlScanner scanner = new SqlScanner(variables);
  private final List<String> found = new ArrayList<>();

  private void lines(String... lines) {
    for (String line : lines) {
      scanner.line(
          line,
          false,
          new SqlScanner.Sink() {
            @Override
            public void statement(String sql) {
              found.add(sql);
            }

            @Override
            public void command(String name, CommandArguments arguments) {
              found.add("\\" + name + arguments.all());
            }
          });
    }
  }

  @Test
  void shouldEndStatementsAtSemicolonsOutsideOfQuotesCommentsAndParentheses() {
    lines(
        "select 1; select ';' as a, \";\" , $$;$$, $t$ $$;$$ $t$, (1;2) /* ; /* ; */ ; */; -- ;",
        "x");
    assertEquals(
        List.of(
            "select 1", "select ';' as a, \";\" , $$;$$, $t$ $$;$$ $t$, (1;2) /* ; /* ; */ ; */"),
        found);
    assertEquals(SqlScanner.State.STATEMENT, scanner.state());
  }

  @Test
  void shouldSayWhatALineContinues() {
    lines("select '");
    assertEquals(SqlScanner.State.SINGLE_QUOTE, scanner.state());
    lines("' || \"");
    assertEquals(SqlScanner.State.DOUBLE_QUOTE, scanner.state());
    lines("\" /* ");
    assertEquals(SqlScanner.State.COMMENT, scanner.state());
    lines("*/ $body$");
    assertEquals(SqlScanner.State.DOLLAR_QUOTE, scanner.state());
    lines("$body$ (");
    assertEquals(SqlScanner.State.PARENTHESIS, scanner.state());
    lines(");");
    assertEquals(SqlScanner.State.EMPTY, scanner.state());
  }

  @Test
  void shouldTakeBackslashesInStringsOnlyWithE() {
    lines("select 'a\\'; select E'a\\';b';");
    assertEquals(List.of("select 'a\\'", "select E'a\\';b'"), found);
  }

  @Test
  void shouldPutVariablesInOutsideOfQuotes() {
    variables.set("n", "it's");
    lines("select :n, :'n', :\"n\", ':n', :none, a::text, :{?n}, :{?none};");
    assertEquals(
        List.of("select it's, 'it''s', \"it's\", ':n', :none, a::text, TRUE, FALSE"), found);
  }

  @Test
  void shouldFindCommandsWithinALine() {
    lines("select 1 \\g 'a file' \"Name\"x \\\\ \\echo b", "\\!ls -l");
    assertEquals(List.of("\\g[a file, \"Name\"x]", "\\echo[b]", "\\![ls, -l]"), found);
    assertEquals("select 1 ", scanner.buffer().substring(0, 9));
  }

  @Test
  void shouldKeepARemarkOfItsOwnFromBeingAStatement() {
    lines("-- nothing", ";", "/* a */ select 1;");
    assertEquals(List.of("/* a */ select 1"), found);
  }
}
