package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.messages.TransactionState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/// A standby speaks of transactions that its primary has prepared or ended, before and after its promotion.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(300)
class StandbyOutcomeTest {
  private static final String PREPARED =
      "select gid from kakehashi_catalog.prepared_transactions order by gid";

  private StandbyPair pair;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    pair = StandbyPair.open(home);
    try (Session session = pair.primary.attach()) {
      session.execute("create table entry (id int8 primary key)");
    }
  }

  @AfterEach
  void stop() throws IOException {
    pair.close();
  }

  private static Transaction inserting(Session session, long id) {
    Transaction transaction = session.begin();
    try (PreparedStatement insert =
        session.prepare("insert into entry values (%d)".formatted(id))) {
      transaction.update(insert);
    }
    return transaction;
  }

  private static long committed(Session session, long id) {
    try (Transaction transaction = inserting(session, id)) {
      long handle = transaction.handle();
      transaction.commit();
      return handle;
    }
  }

  private static void assertRefused(Executable change) {
    assertEquals("25006", assertThrows(EndpointException.class, change).sqlstate());
  }

  @Test
  void shouldNeverTakeACommitOfThePrimaryForRolledBack() throws Exception {
    pair.followBackup();
    // Its handles are later than the registry of the standby then.
    pair.primary.stop();
    pair.primary.start();
    long first;
    long last;
    try (Session session = pair.primary.attach()) {
      first = committed(session, 1);
      last = committed(session, 2);
    }
    pair.awaitStandby();
    // The handles that it gives out itself are later than those.
    pair.standby.stop();
    pair.standby.start();
    try (Session session = pair.standby.attach()) {
      assertEquals(TransactionState.UNKNOWN, session.outcome(first));
      assertEquals(TransactionState.UNKNOWN, session.outcome(last));
    }
    pair.primary.kill();
    pair.ask(pair.standby, "promote").expect(0, "promoted");
    try (Session session = pair.standby.attach()) {
      // The log names the last commit of each place.
      assertEquals(TransactionState.COMMITTED, session.outcome(last));
      assertEquals(TransactionState.UNKNOWN, session.outcome(first));
      long own = committed(session, 3);
      assertEquals(TransactionState.COMMITTED, session.outcome(own));
    }
    pair.standby.kill();
    pair.standby.start();
    try (Session session = pair.standby.attach()) {
      assertEquals(TransactionState.COMMITTED, session.outcome(last));
      assertEquals(TransactionState.UNKNOWN, session.outcome(first));
    }
  }

  @Test
  void shouldShowWhatIsPreparedAndLeaveItUndecided() throws Exception {
    // One that the backup has, and others of the log.
    try (Session session = pair.primary.attach()) {
      inserting(session, 1).prepare("early");
    }
    pair.followBackup();
    try (Session session = pair.primary.attach()) {
      inserting(session, 2).prepare("late");
      inserting(session, 3).prepare("later");
      inserting(session, 4).prepare("undone");
      session.commitPrepared("later");
      session.rollbackPrepared("undone");
    }
    pair.awaitStandby();
    try (Session session = pair.standby.attach()) {
      assertEquals(List.of("early", "late"), StandbyPair.column(session, PREPARED));
      for (String gid : List.of("early", "late", "never")) {
        assertRefused(() -> session.commitPrepared(gid));
        assertRefused(() -> session.rollbackPrepared(gid));
        assertRefused(() -> session.execute("commit prepared '%s'".formatted(gid)));
        assertRefused(() -> session.execute("rollback prepared '%s'".formatted(gid)));
      }
      assertRefused(() -> session.begin().prepare("of a reader"));
      assertEquals(List.of("early", "late"), StandbyPair.column(session, PREPARED));
    }
    // The log is still the primary's.
    try (Session session = pair.primary.attach()) {
      session.commitPrepared("early");
    }
    pair.awaitStandby();
    assertEquals(List.of("late"), StandbyPair.column(pair.standby, PREPARED));
    pair.standby.kill();
    pair.standby.start();
    assertEquals(List.of("late"), StandbyPair.column(pair.standby, PREPARED));
    pair.primary.kill();
    pair.ask(pair.standby, "promote").expect(0, "promoted");
    try (Session session = pair.standby.attach()) {
      assertEquals(List.of("late"), StandbyPair.column(session, PREPARED));
      session.commitPrepared("late");
      assertEquals(
          List.of("1", "2", "3"),
          StandbyPair.column(session, "select id::text from entry order by entry.id"));
    }
  }
}
