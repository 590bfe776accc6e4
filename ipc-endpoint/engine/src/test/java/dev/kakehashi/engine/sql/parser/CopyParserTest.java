package dev.kakehashi.engine.sql.parser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CopyParserTest {
  private static @Nullable CopyStatement parse(String sql) {
    return CopyParser.parse(sql, Lexer.tokenize(sql));
  }

  private static String options(String sql) {
    CopyStatement copy = parse(sql);
    assertNotNull(copy);
    StringBuilder text = new StringBuilder();
    copy.request().options().forEach(each -> text.append(each.name()).append(each.values()));
    return text.toString();
  }

  @Test
  void shouldReadTableColumnsLocationOptionsAndCondition() {
    CopyStatement.From from =
        assertInstanceOf(
            CopyStatement.From.class,
            parse(
                "copy s.t (a, \"B c\") from 'in:x.csv' with (format csv, header, null '') where a > 1;"));
    assertEquals(new QualifiedName("s", "t", 6), from.table());
    assertEquals(List.of("a", "B c"), from.columns().stream().map(QualifiedName::name).toList());
    assertEquals(14, from.columns().get(1).position());
    assertEquals("in:x.csv", from.request().location());
    assertEquals("csv", from.request().options().getFirst().values().getFirst());
    assertEquals(43, from.request().options().getFirst().position());
    assertEquals("header", from.request().options().get(1).name());
    assertNotNull(from.where());
  }

  @Test
  void shouldReadQueryWithItsText() {
    CopyStatement.QueryTo to =
        assertInstanceOf(
            CopyStatement.QueryTo.class,
            parse("copy (with x as (select 1) select * from x) to stdout (format parquet)"));
    assertEquals("with x as (select 1) select * from x", to.text());
    assertEquals("", to.request().location());
    assertInstanceOf(ParsedStatement.With.class, to.query());
  }

  @Test
  void shouldReadTableToLocation() {
    CopyStatement.TableTo to =
        assertInstanceOf(
            CopyStatement.TableTo.class, parse("copy t (a) to 'out:x' with (format arrow)"));
    assertEquals("t", to.table().name());
    assertEquals("out:x", to.request().location());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "copy t from 'x' (format csv, force_null (a, b), header match, limit -5) | format[csv]force_null[a, b]header[match]limit[-5]",
        "copy t to 'x' (order_by (a desc, \"B c\"), force_quote *, ratio 0.5) | order_by[a desc, B c]force_quote[*]ratio[0.5]",
        "copy t from 'x' csv header delimiter as ';' null 'N' | format[csv]header[]delimiter[;]null[N]",
        "copy t to 'x' with csv force quote a, b | format[csv]force_quote[a, b]",
        "copy t from 'x' csv force not null a force null b encoding 'utf8' | format[csv]force_not_null[a]force_null[b]encoding[utf8]",
        "copy binary t from 'x' | format[binary]",
      })
  void shouldReadOptions(String sql, String expected) {
    assertEquals(expected, options(sql));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "copy t from stdin | 0A000 | 13",
        "copy t from program 'rm' | 0A000 | 13",
        "copy t from '' | 42602 | 13",
        "copy t from 'x' (format csv, format text) | 42601 | 30",
        "copy t to 'x' where a > 1 | 42601 | 15",
        "copy t from 'x' (format csv | 42601 | 28",
        "copy t from 'x' nonsense | 42601 | 17",
        "copy t in 'x' | 42601 | 8",
        "copy () to 'x' | 42601 | 7",
        "copy (select 1 to 'x' | 42601 | 22",
        "copy t from 'x' where | 42601 | 22",
        "copy t (a from 'x' | 42601 | 11",
        "copy t from 'x' (a (b, 'c) | 42601 | 24",
      })
  void shouldRefuseWithPosition(String sql, String sqlstate, int position) {
    EngineException refused = assertThrows(EngineException.class, () -> parse(sql));
    assertEquals(sqlstate, refused.code().sqlstate());
    assertEquals(position, refused.position());
  }

  @Test
  void shouldLeaveOtherStatements() {
    assertNull(parse("select copy from t"));
  }
}
