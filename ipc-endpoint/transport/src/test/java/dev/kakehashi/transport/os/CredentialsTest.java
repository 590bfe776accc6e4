package dev.kakehashi.transport.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/// OS users by name and number.
class CredentialsTest {
  @Test
  void shouldFindAUserByNameAndByNumber() throws IOException {
    assertEquals(0, Credentials.uidOf("root"));
    assertEquals(0, Credentials.uidOf("0"));
    assertEquals("root", Credentials.userName(0));
  }

  @Test
  void shouldTakeANumberThatNobodyHasAsItIs() throws IOException {
    assertEquals(987_654_321, Credentials.uidOf("987654321"));
    assertEquals("987654321", Credentials.userName(987_654_321));
  }

  @Test
  void shouldKnowNoUserOfAnotherName() throws IOException {
    for (String name : new String[] {"", "nobody-of-this-name", "root:", "-1", "1e3"}) {
      assertEquals(-1, Credentials.uidOf(name), name);
    }
  }

  @Test
  void shouldKnowWhereThisProcessRuns() throws IOException {
    assertEquals(Credentials.ownUid(), Credentials.uidOf(Credentials.ownUserName()));
    assertTrue(Credentials.pidNamespace() > 0);
  }
}
