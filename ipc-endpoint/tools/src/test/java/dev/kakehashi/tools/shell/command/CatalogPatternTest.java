package dev.kakehashi.tools.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/// Patterns of names become conditions of statements: no pattern leaves its constant.
class CatalogPatternTest {
  private static String condition(String pattern) {
    return CatalogPattern.of(pattern).condition("s", "n");
  }

  @Test
  void shouldMeanByStarAndQuestionMarkWhatPsqlMeans() {
    assertEquals(
        "s NOT IN ('kakehashi_catalog', 'information_schema') AND n LIKE 'ord%'",
        condition("ord*"));
    assertEquals("s LIKE 'sales' AND n LIKE 'order_'", condition("sales.order?"));
    assertEquals("s LIKE '%' AND n LIKE '%'", condition("*.*"));
    assertEquals("s LIKE 'sales'", condition("sales."));
  }

  @Test
  void shouldTakeQuotedLettersAsTheyAre() {
    assertEquals("n LIKE 'orders'", CatalogPattern.of("ORDERS").condition("n"));
    assertEquals("n LIKE 'Or.de*rs?'", CatalogPattern.of("\"Or.de*rs?\"").condition("n"));
    assertEquals("n LIKE 'Aä%'", CatalogPattern.of("\"A\"Ä*").condition("n"));
  }

  /// Signs of LIKE are letters of names.
  @Test
  void shouldTakeSignsOfLikeForThemselves() {
    assertEquals("n LIKE E'a\\\\_b\\\\%c'", CatalogPattern.of("a_b%c").condition("n"));
    assertEquals("n LIKE E'a\\\\\\\\b'", CatalogPattern.of("a\\b").condition("n"));
  }

  @Test
  void shouldNotLetAPatternEndItsConstant() {
    assertEquals(
        "n LIKE 'a''; drop table t; --'", CatalogPattern.of("a'; drop table t; --").condition("n"));
    assertEquals("n LIKE E'\\\\\\\\''; x'", CatalogPattern.of("\\'; x").condition("n"));
  }

  @Test
  void shouldLeaveOutTheSystemWithoutAPattern() {
    assertEquals(
        "s NOT IN ('kakehashi_catalog', 'information_schema')",
        CatalogPattern.of(null).condition("s", "n"));
    assertEquals("true", CatalogPattern.of(null).condition("n"));
  }
}
