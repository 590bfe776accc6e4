package dev.kakehashi.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A name of a client becomes part of a statement, so it may be nothing but a name.
class ProcedureNameTest {
  @Test
  void shouldWriteTheCall() {
    assertEquals("CALL pay()", ProcedureName.call("pay", 0));
    assertEquals("CALL shop.pay($1)", ProcedureName.call("shop.pay", 1));
    assertEquals(
        "CALL \"a.b\".\"c \"\"d\"\"\"($1, $2, $3)",
        ProcedureName.call("\"a.b\".\"c \"\"d\"\"\"", 3));
    assertEquals("CALL zählen_1$()", ProcedureName.call("zählen_1$", 0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " pay",
        "pay ",
        "pay()",
        "pay(); DROP TABLE t; --",
        "1pay",
        "a.b.c",
        ".pay",
        "shop.",
        "\"\"",
        "\"pay",
        "\"pay\"\"",
        "\"pay\" (1) --",
        "\"pa\u0000y\"",
        "pay\n",
        "pay--",
        "pay/**/",
        "'pay'"
      })
  void shouldRefuseEverythingElse(String name) {
    EngineException refused =
        assertThrows(EngineException.class, () -> ProcedureName.call(name, 1));
    assertEquals(ErrorCode.INVALID_NAME, refused.code());
  }
}
