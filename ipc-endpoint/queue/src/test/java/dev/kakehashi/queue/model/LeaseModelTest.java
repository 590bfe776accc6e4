package dev.kakehashi.queue.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.queue.model.LeaseModel.Result;
import dev.kakehashi.queue.model.LeaseModel.Rule;
import java.util.EnumSet;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Claim, expiry, completion and restart in every order: at most one lease, effects once, attempts that no crash takes back, one death.
/// Without any one of the rules some order breaks that.
class LeaseModelTest {
  @Test
  void shouldKeepTheInvariantsInEveryOrder() {
    Result result = new LeaseModel(EnumSet.allOf(Rule.class)).explore();
    assertEquals(Optional.empty(), result.violation());
    assertTrue(result.states() > 1_000, () -> "only " + result.states() + " states");
  }

  @ParameterizedTest
  @EnumSource(Rule.class)
  void shouldNeedEachRule(Rule rule) {
    Optional<String> violation = new LeaseModel(LeaseModel.without(rule)).explore().violation();
    assertTrue(violation.isPresent(), () -> "nothing breaks without " + rule);
  }
}
