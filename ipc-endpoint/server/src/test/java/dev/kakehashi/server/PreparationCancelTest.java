package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.FrameSession;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PrepareEncoder;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// A statement that is planned for ever is given up when its client says so, or is gone.
class PreparationCancelTest {
  /// As many tables as a statement may read: no machine orders their joins while the test runs. Without conditions it takes five seconds.
  static final String ENDLESS =
      "with q0 as not materialized (select 1 as x)"
          + IntStream.rangeClosed(1, 12)
              .mapToObj(i ->
                  ", q%d as not materialized (select a.x from q%d a, q%d b where a.x = b.x)"
                      .formatted(i, i - 1, i - 1))
              .collect(Collectors.joining())
          + " select count(*) from q12";

  private static final String JOBS =
      "select count(*) from kakehashi_catalog.jobs where name = '" + ENDLESS + "'";

  private static byte[] prepareFrame() {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[8192]);
    PrepareEncoder prepare = new PrepareEncoder();
    prepare
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .sessionId(0)
        .requestId(0)
        .slot(0)
        .statementId(0)
        .sqlOffset(0)
        .sqlBytes(0);
    prepare.parameterTypesCount(0);
    byte[] frame =
        new byte[MessageHeaderEncoder.ENCODED_LENGTH + prepare.sql(ENDLESS).encodedLength()];
    buffer.getBytes(0, frame);
    return frame;
  }

  /// Each look asks the endpoint.
  private static void awaitJobs(Session session, long expected) {
    try (PreparedStatement query = session.prepare(JOBS)) {
      Await.untilEquals("jobs", expected, () -> jobs(session, query));
    }
  }

  private static long jobs(Session session, PreparedStatement query) {
    try (Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  @Test
  void shouldEndThePreparationWhoseRequestIsCanceled() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session watcher = endpoint.attach();
        FrameSession canceled =
            FrameSession.attach(AttachOptions.of(endpoint.runtimeDirectory()))) {
      FrameSession.Pending request = Objects.requireNonNull(canceled.send(prepareFrame()));
      awaitJobs(watcher, 1);
      canceled.cancel(request);
      assertEquals("57014", canceled.finish(request).sqlstate());
      awaitJobs(watcher, 0);
    }
  }

  @Test
  void shouldEndThePreparationOfAClientThatIsGone() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session watcher = endpoint.attach()) {
      try (FrameSession gone = FrameSession.attach(AttachOptions.of(endpoint.runtimeDirectory()))) {
        gone.send(prepareFrame());
        awaitJobs(watcher, 1);
      }
      awaitJobs(watcher, 0);
    }
  }

  @Test
  void shouldEndThePreparationOfASessionWhoseTransactionIsCanceled() throws Exception {
    try (EndpointProcess endpoint = EndpointProcess.open();
        Session watcher = endpoint.attach();
        Session canceled = endpoint.attach();
        Transaction transaction = canceled.begin(TransactionOptions.DEFAULT)) {
      long handle = transaction.handle();
      CompletableFuture<String> sqlstate = new CompletableFuture<>();
      Thread client =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  canceled.prepare(ENDLESS).close();
                  sqlstate.complete("");
                } catch (EndpointException refused) {
                  sqlstate.complete(refused.sqlstate());
                }
              });
      awaitJobs(watcher, 1);
      assertTrue(watcher.cancelTransaction(handle));
      assertEquals("57014", sqlstate.get(60, TimeUnit.SECONDS));
      client.join();
      awaitJobs(watcher, 0);
      transaction.commit();
    }
  }
}
