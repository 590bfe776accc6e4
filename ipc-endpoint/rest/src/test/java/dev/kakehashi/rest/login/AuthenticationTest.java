package dev.kakehashi.rest.login;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.server.FixedUsers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Logins on a clock that the test turns.
final class AuthenticationTest {
  private static final LoginLimits LIMITS = new LoginLimits(600, 3, 60, 3, 8, 2);

  private final FixedUsers users = new FixedUsers();
  private long now = Long.MAX_VALUE - 5;
  private final Authentication authentication = new Authentication(users, LIMITS, () -> now);

  private void pass(long seconds) {
    now += TimeUnit.SECONDS.toNanos(seconds);
  }

  private static LoginCredentials with(@Nullable String field) {
    return new LoginCredentials(field, "192.0.2.1", null);
  }

  private static LoginCredentials basic(String name, String password) {
    byte[] pair = (name + ":" + password).getBytes(StandardCharsets.UTF_8);
    return with("Basic " + Base64.getEncoder().encodeToString(pair));
  }

  private static int status(Runnable call) {
    return assertThrows(Problem.class, call::run).status();
  }

  private static Map<String, String> headers(Runnable call) {
    Map<String, String> headers = new HashMap<>();
    assertThrows(Problem.class, call::run).forEachHeader(headers::put);
    return headers;
  }

  private String login(String name, String password) {
    Users.Known known = authentication.prove(basic(name, password));
    return "Bearer " + authentication.login(known, basic(name, password).authorization()).text();
  }

  @Test
  void shouldProveAPasswordOnceForAWhile() {
    LoginCredentials alice = basic("alice", "wonder");
    assertNull(authentication.find(alice));
    assertEquals("alice", authentication.prove(alice).user().name());
    assertEquals("alice", Objects.requireNonNull(authentication.find(alice)).user().name());
    assertEquals(1, users.verifications.get());

    assertNull(authentication.find(basic("alice", "wonders")));
    pass(60);
    assertNull(authentication.find(alice));
  }

  @Test
  void shouldForgetAPasswordThatWasChanged() {
    LoginCredentials alice = basic("alice", "wonder");
    authentication.prove(alice);
    users.put("alice", "land");

    assertNull(authentication.find(alice));
    assertEquals(401, status(() -> authentication.prove(alice)));
  }

  @Test
  void shouldKnowATokenUntilItEnds() {
    String token = login("alice", "wonder");
    assertEquals("alice", Objects.requireNonNull(authentication.find(with(token))).user().name());
    assertEquals(43, token.length() - "Bearer ".length());
    assertNotEquals(token, login("alice", "wonder"));

    pass(599);
    assertNotNull(authentication.find(with(token)));
    pass(1);
    assertEquals(401, status(() -> authentication.find(with(token))));
  }

  @Test
  void shouldEndTokensByLogoutAndByChangesOfTheUser() {
    String first = login("alice", "wonder");
    String second = login("alice", "wonder");
    String third = login("bob", "builder");
    authentication.logout(first);
    authentication.logout(first);
    users.drop("bob");

    assertEquals(401, status(() -> authentication.find(with(first))));
    assertNotNull(authentication.find(with(second)));
    assertEquals(401, status(() -> authentication.find(with(third))));
    users.put("alice", "other");
    assertEquals(401, status(() -> authentication.find(with(second))));
  }

  @Test
  void shouldBoundTheTokensOfAUser() {
    String oldest = login("alice", "wonder");
    String bobs = login("bob", "builder");
    for (int i = 0; i < 3; i++) {
      login("alice", "wonder");
    }

    assertEquals(401, status(() -> authentication.find(with(oldest))));
    assertNotNull(authentication.find(with(bobs)));
    assertEquals(4, authentication.tokens());
  }

  @Test
  void shouldNotGiveATokenForAToken() {
    String token = login("alice", "wonder");
    Users.Known known = Objects.requireNonNull(authentication.find(with(token)));

    assertEquals(403, status(() -> authentication.login(known, token)));
    assertEquals(
        400, status(() -> authentication.logout(basic("alice", "wonder").authorization())));
  }

  @ParameterizedTest
  @ValueSource(strings = {"alice", "nobody"})
  void shouldSlowDownWrongPasswordsOfAUser(String name) {
    for (int i = 0; i < 3; i++) {
      assertEquals(401, status(() -> authentication.prove(basic(name, "wrong"))));
    }
    int verified = users.verifications.get();
    assertEquals(
        "2", headers(() -> authentication.prove(basic(name, "wonder"))).get("Retry-After"));
    assertEquals(verified, users.verifications.get());

    pass(1);
    assertEquals(401, status(() -> authentication.prove(basic(name, "wrong"))));
    pass(1);
    assertEquals(429, status(() -> authentication.prove(basic(name, "wrong"))));
    pass(1);
    assertEquals(401, status(() -> authentication.prove(basic(name, "wrong"))));
    for (int i = 0; i < 10; i++) {
      pass(8);
      assertEquals(401, status(() -> authentication.prove(basic(name, "wrong"))));
    }
  }

  @Test
  void shouldSlowDownOverlongNamesByTheirBeginning() {
    for (int i = 0; i < 3; i++) {
      String name = "x".repeat(200) + i;
      assertEquals(401, status(() -> authentication.prove(basic(name, "wrong"))));
    }

    assertEquals(429, status(() -> authentication.prove(basic("x".repeat(200), "wrong"))));
  }

  @Test
  void shouldLetTheRightPasswordInAfterTheDelay() {
    for (int i = 0; i < 3; i++) {
      assertEquals(401, status(() -> authentication.prove(basic("alice", "wrong"))));
    }
    pass(1);

    assertEquals("alice", authentication.prove(basic("alice", "wonder")).user().name());
    assertEquals(401, status(() -> authentication.prove(basic("alice", "wrong"))));
    assertEquals(401, status(() -> authentication.prove(basic("alice", "wrong"))));
  }

  @Test
  void shouldLetAUserInWhomOthersGuessFromElsewhere() {
    for (int i = 0; i < 3; i++) {
      assertEquals(401, status(() -> authentication.prove(basic("alice", "wrong"))));
    }
    assertEquals(429, status(() -> authentication.prove(basic("alice", "wonder"))));

    assertEquals("alice", authentication.prove(from("192.0.2.2", "wonder")).user().name());
    assertEquals(429, status(() -> authentication.prove(basic("alice", "wonder"))));
  }

  /// As user alice.
  private static LoginCredentials from(String address, String password) {
    return new LoginCredentials(basic("alice", password).authorization(), address, null);
  }

  @Test
  void shouldBoundGuessesFromManyAddressesAndNotLockTheUserOut() {
    authentication.prove(from("192.0.2.2", "wonder"));
    for (int i = 0; i < 60; i++) {
      String address = "198.51.100." + i;
      assertEquals(401, status(() -> authentication.prove(from(address, "wrong"))));
    }
    for (int i = 60; i < 100; i++) {
      String address = "198.51.100." + i;
      assertEquals(429, status(() -> authentication.prove(from(address, "wrong"))));
    }

    assertEquals("alice", authentication.prove(from("192.0.2.2", "wonder")).user().name());
    assertEquals(401, status(() -> authentication.prove(from("192.0.2.2", "wrong"))));
    assertEquals("bob", authentication.prove(basic("bob", "builder")).user().name());
    pass(8);
    assertEquals("alice", authentication.prove(from("203.0.113.1", "wonder")).user().name());
    assertEquals(401, status(() -> authentication.prove(from("198.51.100.60", "wrong"))));
    assertEquals(429, status(() -> authentication.prove(from("198.51.100.61", "wrong"))));
    pass(3601);
    for (int i = 0; i < 3; i++) {
      String address = "198.51.100." + i;
      assertEquals(401, status(() -> authentication.prove(from(address, "wrong"))));
    }
  }

  @Test
  void shouldSlowDownAnAddressThatTriesManyUsers() {
    for (int i = 0; i < 12; i++) {
      String name = "user" + i;
      assertEquals(401, status(() -> authentication.prove(basic(name, "wrong"))));
    }

    assertEquals(429, status(() -> authentication.prove(basic("alice", "wonder"))));
    LoginCredentials elsewhere =
        new LoginCredentials(basic("alice", "wonder").authorization(), "192.0.2.2", null);
    assertEquals("alice", authentication.prove(elsewhere).user().name());
  }

  @Test
  void shouldTakeWhomTheConnectionProvesUnlessSomebodyElseIsNamed() {
    Users.Known proven = Objects.requireNonNull(users.ofOsUser("postgres"));

    assertEquals(proven, authentication.find(new LoginCredentials(null, "unix", proven)));
    assertEquals(401, status(() -> authentication.find(with(null))));
    assertEquals(
        401, status(() -> authentication.find(new LoginCredentials("Bearer x", "unix", proven))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Basic", "Digest x", "Negotiate abc"})
  void shouldRefuseOtherSchemes(String field) {
    Map<String, String> headers = headers(() -> authentication.find(with(field)));

    assertTrue(
        headers.getOrDefault("WWW-Authenticate", "").startsWith("Basic realm="),
        headers.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Basic ", "Basic %%%", "Basic YWxpY2U=", "Basic OndvbmRlcg==", "Basic /////zo="})
  void shouldRefuseBrokenPairs(String field) {
    assertEquals(401, status(() -> authentication.prove(with(field))));
    assertEquals(0, users.verifications.get());
  }

  @Test
  void shouldNotShowSecrets() {
    assertTrue(!basic("alice", "wonder").toString().contains("Basic"));
    assertTrue(!new Authentication.Token("secret", 1).toString().contains("secret"));
  }
}
