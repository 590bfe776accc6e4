package dev.kakehashi.queue.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.queue.model.HandOverModel.Result;
import dev.kakehashi.queue.model.HandOverModel.Rule;
import java.util.EnumSet;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// From the commit to the consumer, in every order: no ready task beside a consumer that waits. Without any one of the rules some order
/// loses a wake-up.
class HandOverModelTest {
  @Test
  void shouldLoseNoWakeUpInAnyOrder() {
    Result result = new HandOverModel(EnumSet.allOf(Rule.class)).explore();
    assertEquals(Optional.empty(), result.violation());
    assertTrue(result.states() > 400, () -> "only " + result.states() + " states");
  }

  @ParameterizedTest
  @EnumSource(Rule.class)
  void shouldNeedEachRule(Rule rule) {
    Optional<String> violation =
        new HandOverModel(HandOverModel.without(rule)).explore().violation();
    assertTrue(violation.isPresent(), () -> "nothing is lost without " + rule);
  }
}
