package dev.kakehashi.engine.exec.operator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class FailuresTest {
  @Test
  void shouldSayThatAStatementIsNestedTooDeeplyForItsThread() {
    assertEquals("54000", RunFailures.report(new StackOverflowError()).code().sqlstate());
    assertEquals("XX000", RunFailures.report(new IllegalStateException()).code().sqlstate());
  }
}
