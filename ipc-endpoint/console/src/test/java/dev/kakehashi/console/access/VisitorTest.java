package dev.kakehashi.console.access;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.problem.Problem;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The token of a form says that it was sent from a page of this login, and from no other one.
class VisitorTest {
  private static final String TOKEN = "secret-token";

  private static Visitor visitor(String token) {
    return new Visitor(new RequestUser("alice", false), token, "10.0.0.7");
  }

  @Test
  void shouldTakeFormsOfItsOwnPagesAlone() {
    Visitor alice = visitor(TOKEN);
    assertTrue(alice.hasSent(alice.csrf()));
    assertTrue(alice.hasSent(visitor(TOKEN).csrf()), "pages of one login are alike");
    assertFalse(alice.hasSent(visitor("another").csrf()));
    assertFalse(alice.hasSent(""));
    assertFalse(alice.hasSent(alice.csrf() + "x"));
    assertFalse(alice.hasSent(alice.csrf().substring(1)));
  }

  @Test
  void shouldRefuseAFormWithoutItsToken() {
    Visitor alice = visitor(TOKEN);
    assertDoesNotThrow(() -> Doorman.check(alice, Map.of("csrf", alice.csrf())));
    for (Map<String, String> form : List.of(Map.<String, String>of(), Map.of("csrf", TOKEN))) {
      Problem refused = assertThrows(Problem.class, () -> Doorman.check(alice, form));
      assertEquals(403, refused.status());
    }
  }

  /// The page and the log are seen by others.
  @Test
  void shouldHideTheTokenOfTheLogin() {
    Visitor alice = visitor(TOKEN);
    assertFalse(alice.csrf().contains(TOKEN));
    assertNotEquals(TOKEN, alice.csrf());
    assertEquals("alice from 10.0.0.7", alice.toString());
  }
}
