package dev.kakehashi.console.page;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/// Names of objects come from users. In a statement and in an address they are nothing but names.
class SqlNamesTest {
  @Test
  void shouldNotLetANameEndItsQuotes() {
    assertEquals("\"a\"\"; drop table t; --\"", SqlNames.quoted("a\"; drop table t; --"));
    assertEquals("\"my.s\".\"Order\"", SqlNames.quoted("my.s", "Order"));
    assertEquals("'it''s \\'", SqlNames.literal("it's \\"));
  }

  @Test
  void shouldShowTheSchemaUnlessItIsTheUsualOne() {
    assertEquals("orders", SqlNames.shown("public", "orders"));
    assertEquals("sales.orders", SqlNames.shown("sales", "orders"));
  }

  @Test
  void shouldNotLetANameAddParametersToAnAddress() {
    assertEquals(
        "/console/queue?schema=public&name=a%26state%3Ddead%23x+%C3%A4%2F",
        SqlNames.address("/console/queue", "schema", "public", "name", "a&state=dead#x ä/"));
    assertEquals("/console/queues", SqlNames.address("/console/queues"));
  }
}
