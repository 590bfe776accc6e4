package dev.kakehashi.engine.store.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.model.DirectReadModel.Rule;
import java.util.EnumSet;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Answers of a direct read, in every order of its steps and those of others. Without any one of the rules some order makes it wrong.
class DirectReadModelTest {
  @Test
  void shouldAnswerRightInEveryOrder() {
    WordModel.Result result = new DirectReadModel(EnumSet.allOf(Rule.class)).explore();
    assertEquals(Optional.empty(), result.violation());
    assertTrue(result.states() > 600_000, () -> "only " + result.states() + " states");
  }

  @ParameterizedTest
  @EnumSource(Rule.class)
  void shouldNeedEachRule(Rule rule) {
    Optional<String> violation =
        new DirectReadModel(DirectReadModel.without(rule)).explore().violation();
    assertTrue(violation.isPresent(), () -> "nothing is wrong without " + rule);
  }
}
