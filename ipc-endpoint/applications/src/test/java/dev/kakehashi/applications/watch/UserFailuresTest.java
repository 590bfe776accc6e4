package dev.kakehashi.applications.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.application.ApplicationException;
import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.engine.api.application.ApplicationSystem.ApplicationFailure;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.junit.jupiter.api.Test;

/// Errors of users' code, whose exceptions may do anything when they are asked.
class UserFailuresTest {
  private static final class Hostile extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message");
    }

    @Override
    public synchronized Throwable getCause() {
      throw new IllegalStateException("no cause");
    }
  }

  private static final class Circle extends RuntimeException {
    private static final long serialVersionUID = 1;

    Circle() {
      super("x".repeat(10_000));
    }

    @Override
    public synchronized Throwable getCause() {
      return this;
    }
  }

  private static String error(Throwable thrown) {
    EngineException e = UserFailures.error(thrown);
    return e.sqlstate() + " " + e.getMessage();
  }

  @Test
  void shouldMakeErrorsOfWhatIsThrown() {
    EngineException ours = new EngineException(ErrorCode.UNIQUE_VIOLATION, "there is one");
    assertSame(ours, UserFailures.error(ours));
    assertSame(ours, UserFailures.error(new EngineFailure("23505", "there is one", ours)));
    assertEquals(
        "23505 there is one",
        error(new EngineFailure("23505", "there is one", new RuntimeException())));
    assertEquals("AB123 too many", error(new ApplicationException("AB123", "too many")));
    assertEquals(
        "P0001 java.lang.IllegalStateException: closed",
        error(new IllegalStateException("closed")));
    assertEquals("P0001 java.lang.RuntimeException: null", error(new RuntimeException()));
    assertEquals(
        "54000 stack depth limit exceeded by an application", error(new StackOverflowError()));
    assertEquals(
        "53200 an application needs more memory: Java heap space",
        error(new OutOfMemoryError("Java heap space")));
  }

  @Test
  void shouldHoldNoExceptionOfUsersCode() {
    EngineException error = UserFailures.error(new IllegalStateException("closed"));
    assertNull(error.getCause());
    assertEquals(0, error.getSuppressed().length);
  }

  @Test
  void shouldBearExceptionsThatFailWhenTheyAreAsked() {
    assertEquals(
        "P0001 "
            + Hostile.class.getName()
            + ": its message failed with java.lang.IllegalStateException",
        error(new Hostile()));
    ApplicationJournal journal = new ApplicationJournal();
    UserFailures failures = new UserFailures(journal, "public.shop", 3);
    failures.report("procedure place", 7, new Hostile());
    ApplicationFailure kept = journal.failures().getFirst();
    assertEquals("public.shop", kept.application());
    assertEquals(3, kept.version());
    assertTrue(kept.stack().contains("Caused by: java.lang.IllegalStateException: no cause"));
  }

  @Test
  void shouldBoundWhatItKeeps() {
    ApplicationJournal journal = new ApplicationJournal();
    UserFailures failures = new UserFailures(journal, "public.shop", 1);
    EngineException error = failures.report("function vat", 0, new Circle());
    assertTrue(String.valueOf(error.getMessage()).length() < 2_200);
    assertTrue(journal.failures().getFirst().stack().length() <= 16 << 10);
    for (int i = 0; i < 1_500; i++) {
      failures.journal().log("public.shop", 1, i, "y".repeat(5_000));
      journal.add(journal.failures().getFirst());
    }
    assertEquals(1_000, journal.failures().size());
    assertEquals(1_499, journal.lines().getFirst().call(), "the newest first");
    assertEquals(4_000, journal.lines().getFirst().line().length());
  }
}
