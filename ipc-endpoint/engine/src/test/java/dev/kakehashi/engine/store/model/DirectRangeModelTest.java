package dev.kakehashi.engine.store.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.model.DirectRangeModel.Rule;
import java.util.EnumSet;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Answers of a direct read of a range, in every order of its steps and those of others. Without any one of the rules some order makes it
/// wrong.
class DirectRangeModelTest {
  @Test
  void shouldAnswerRightInEveryOrder() {
    WordModel.Result result = new DirectRangeModel(EnumSet.allOf(Rule.class)).explore();
    assertEquals(Optional.empty(), result.violation());
    assertTrue(result.states() > 100_000, () -> "only " + result.states() + " states");
  }

  @ParameterizedTest
  @EnumSource(Rule.class)
  void shouldNeedEachRule(Rule rule) {
    Optional<String> violation =
        new DirectRangeModel(DirectRangeModel.without(rule)).explore().violation();
    assertTrue(violation.isPresent(), () -> "nothing is wrong without " + rule);
  }
}
