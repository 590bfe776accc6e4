package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/// One session looks at what another does.
class ActivityTest {
  private static final String ENDLESS =
      "with recursive n(i) as (values (1::int8) union all select i + 1 from n) select max(i) from n";

  /// The first column of the first row; empty if there is none.
  private static String text(Session session, String sql) {
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      return rows.next() ? rows.getString(0) : "";
    }
  }

  /// Each look asks the endpoint.
  private static void await(Session session, String expected, String sql) {
    Await.untilEquals(sql, expected, () -> text(session, sql));
  }

  @Test
  void shouldShowWhatAnotherSessionDoes() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session watched = endpoint.attach();
        Session watcher = endpoint.attach();
        PreparedStatement endless = watched.prepare(ENDLESS)) {
      String self =
          text(
              watcher,
              "select session_id::text from kakehashi_catalog.sessions where statement like '%self%' -- self");
      String facts =
          " from kakehashi_catalog.sessions where process_id = "
              + ProcessHandle.current().pid()
              + " and session_id <> "
              + self;
      String state = "select state || ' ' || running" + facts;
      await(watcher, "idle 0", state);
      try (Transaction transaction =
          watched.begin(TransactionOptions.DEFAULT.withLabel("nightly"))) {
        await(watcher, "idle in transaction 0", state);
        String handle = Long.toString(transaction.handle());
        assertEquals(handle, text(watcher, "select handle::text" + facts));
        try (Rows rows = transaction.query(endless)) {
          await(watcher, "active 1", state);
          assertEquals(ENDLESS, text(watcher, "select statement" + facts));
          await(
              watcher,
              "nightly RUNNING " + handle + " true true",
              "select label || ' ' || state || ' ' || handle || ' ' || (run_ms > 0)::text || ' ' || (progress between 0 and 1)::text"
                  + " from kakehashi_catalog.jobs where name = '"
                  + ENDLESS
                  + "' and handle is not null");
          assertTrue(watcher.cancelTransaction(transaction.handle()));
          assertEquals("57014", assertThrows(EndpointException.class, rows::next).sqlstate());
        }
        await(watcher, "idle in transaction 0", state);
        transaction.rollback();
      }
      await(watcher, "idle 0", state);
      assertEquals("", text(watcher, "select handle::text" + facts + " and handle is not null"));
    }
  }

  @Test
  void shouldShowWhatAnotherSessionPlansAndEndItWithItsClient() throws Exception {
    String endless = PreparationCancelTest.ENDLESS;
    String planned =
        "select state from kakehashi_catalog.sessions where statement = '" + endless + "'";
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session watcher = endpoint.attach()) {
      Session planning = endpoint.attach();
      FutureTask<RuntimeException> refused =
          new FutureTask<>(
              () -> assertThrows(RuntimeException.class, () -> planning.prepare(endless)));
      Thread.ofPlatform().start(refused);
      await(watcher, "planning", planned);
      planning.close();
      await(watcher, "", planned);
      await(
          watcher,
          "0",
          "select count(*)::text from kakehashi_catalog.jobs where name = '" + endless + "'");
      // The answer to the cancel may come before the session knows that it is closed, and the look
      // at the session before that at its memory.
      RuntimeException end = refused.get();
      assertTrue(
          end instanceof IllegalStateException
              || (end instanceof EndpointException answer
                  && List.of("57014", "08006").contains(answer.sqlstate())),
          end::toString);
    }
  }

  @Test
  void shouldShowHowFarAStatementHasReadItsTables() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session reader = endpoint.attach();
        Session watcher = endpoint.attach()) {
      reader.execute("create table long_one (id int8 primary key, name text)");
      reader.execute(
          "insert into long_one select i, 'a name that takes some room ' || i from generate_series(1, 200000) i");
      String sql = "select * from long_one";
      try (PreparedStatement all = reader.prepare(sql);
          Rows rows = reader.query(all)) {
        assertTrue(rows.next());
        // Nobody takes the rows, so that it waits in the middle of its table.
        await(
            watcher,
            "true",
            "select (pages > 64 and pages_read between 1 and pages - 1)::text from kakehashi_catalog.jobs where name = '"
                + sql
                + "'");
      }
      assertEquals(
          "",
          text(
              watcher,
              "select pages::text from kakehashi_catalog.jobs where name like '%self%' and pages is not null -- self"));
    }
  }
}
