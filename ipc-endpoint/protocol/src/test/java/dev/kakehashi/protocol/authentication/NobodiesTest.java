package dev.kakehashi.protocol.authentication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class NobodiesTest {
  /// Verifier of 10,000 iterations.
  private static final String COSTLY =
      "SCRAM-SHA-256$10000:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
          + ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

  private final Nobodies nobodies = new Nobodies(new byte[] {1, 2, 3});

  private static String salt(ScramVerifier verifier) {
    return verifier.format().split("[:$]", -1)[2];
  }

  @Test
  void shouldCostAsMuchAsTheUsersWhoExist() {
    assertEquals(4096, nobodies.of("mallory", null).iterations());
    assertEquals(COSTLY, nobodies.of("alice", COSTLY).format());
    ScramVerifier nobody = nobodies.of("mallory", null);
    assertEquals(10_000, nobody.iterations());
    assertEquals(salt(nobody), salt(nobodies.of("mallory", null)));
    assertFalse(nobody.matches("".toCharArray()));
    String own = ScramVerifier.of("wonder".toCharArray()).format();
    assertTrue(nobodies.of("alice", own).matches("wonder".toCharArray()));
  }
}
