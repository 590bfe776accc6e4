package dev.kakehashi.server;

import static dev.kakehashi.server.RequestDoor.AUTO;
import static dev.kakehashi.server.RequestDoor.assertFailed;
import static dev.kakehashi.server.RequestDoor.succeeded;
import static dev.kakehashi.server.RequestDoor.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.InProcessRequests;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.testsupport.BatchSink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// One transaction of several clients, through shared memory and in the endpoint's process.
@SuppressWarnings("NullAway.Init") // set before each test
class SharedTransactionTest {
  private Path root;
  private EndpointServer server;
  private Session java;
  private RequestUser user;
  private RequestDoor door;

  @BeforeEach
  void start() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    open();
    java.execute("create table t (id int8 primary key, v int8)");
  }

  private void open() {
    server =
        EndpointServer.start(
            Settings.defaults()
                .set("data_directory", root.resolve("data").toString())
                .set("runtime_directory", root.resolve("run").toString()),
            new EmbeddedEngineFactory());
    java = attach("alice");
    user = new RequestUser("alice", false);
    door = RequestDoor.open(requests(), user);
  }

  private InProcessRequests requests() {
    return server.requests();
  }

  private Session attach(String userName) {
    return Session.attach(AttachOptions.of(root.resolve("run")).withUser(userName, ""));
  }

  private void shut() {
    door.close();
    java.close();
    server.close();
  }

  @AfterEach
  void stop() throws IOException {
    shut();
    Directories.delete(root);
  }

  private static long update(Session session, Transaction transaction, String sql) {
    try (PreparedStatement statement = session.prepare(sql)) {
      return transaction.update(statement);
    }
  }

  private long count() {
    return door.number("select count(*) from t", AUTO);
  }

  private static void assertRefused(String sqlstate, Runnable action) {
    EndpointException failure = assertThrows(EndpointException.class, action::run);
    assertEquals(sqlstate, failure.sqlstate(), failure.getMessage());
  }

  @Test
  void shouldContinueInTheProcessWhatAJavaClientBegan() {
    try (Transaction transaction = java.begin()) {
      update(java, transaction, "insert into t values (1, 1)");
      long handle = requests().handle(user, transaction.token()).getAsLong();
      assertEquals(transaction.handle(), handle);
      assertEquals(1, door.number("select count(*) from t", within(handle)));
      succeeded(door.execute("insert into t values (2, 2)", within(handle)));
      assertEquals(0, count());
      succeeded(door.commit(handle));
      assertEquals(TransactionState.COMMITTED, java.outcome(handle));
    }
    assertEquals(2, count());
  }

  @Test
  void shouldContinueInAJavaClientWhatBeganInTheProcess() {
    long handle = door.begin();
    succeeded(door.execute("insert into t values (1, 1)", within(handle)));
    // Its name alone does not do: a client of shared memory only says that it is alice.
    assertRefused(
        "25P01", () -> update(java, java.attachTransaction(handle), "insert into t values (2, 2)"));
    try (Transaction transaction = java.continueTransaction(requests().token(user, handle))) {
      assertEquals(handle, transaction.handle());
      update(java, transaction, "insert into t values (2, 2)");
    }
    java.close();
    java = attach("alice");
    assertEquals(TransactionState.ACTIVE, succeeded(door.outcome(handle)).state());
    try (Transaction transaction = java.continueTransaction(requests().token(user, handle))) {
      transaction.commit();
    }
    assertEquals(2, count());
  }

  @Test
  void shouldContinueInAnotherSessionWhatAJavaClientBegan() {
    try (Session other = attach("alice")) {
      Transaction transaction = java.begin();
      update(java, transaction, "insert into t values (1, 1)");
      Transaction joined = other.continueTransaction(transaction.token());
      // The one that began it may go: another one has joined.
      java.close();
      update(other, joined, "insert into t values (2, 2)");
      joined.commit();
      java = attach("alice");
    }
    assertEquals(2, count());
  }

  @Test
  void shouldRefuseTokensOfOthers() {
    try (Transaction transaction = java.begin();
        Session bob = attach("bob")) {
      String token = transaction.token();
      assertRefused("25P01", () -> bob.continueTransaction(token));
      assertRefused("25P01", () -> bob.continueTransaction("0".repeat(32)));
      assertRefused("25P01", () -> bob.continueTransaction(""));
      assertRefused("25P01", () -> bob.continueTransaction("x".repeat(100_000 / 4)));
      assertRefused(
          "25P01", () -> update(bob, bob.attachTransaction(transaction.handle()), "delete from t"));
      transaction.rollback();
      assertRefused("25P01", transaction::token);
      assertRefused("25P01", () -> java.continueTransaction(token));
    }
  }

  @Test
  void shouldAnswerForTheUserAfterARestart() {
    long committed = door.begin();
    succeeded(door.execute("insert into t values (1, 1)", within(committed)));
    String token = requests().token(user, committed);
    succeeded(door.commit(committed));
    long lost = door.begin();
    succeeded(door.execute("insert into t values (2, 2)", within(lost)));
    shut();
    open();
    assertEquals(committed, requests().handle(user, token).getAsLong());
    assertEquals(TransactionState.COMMITTED, succeeded(door.outcome(committed)).state());
    assertEquals(TransactionState.ABORTED, succeeded(door.outcome(lost)).state());
    assertEquals(TransactionState.COMMITTED, java.outcome(committed));
    try (RequestDoor bob = RequestDoor.open(requests(), RequestDoor.BOB);
        Session bobs = attach("bob")) {
      assertEquals(TransactionState.UNKNOWN, succeeded(bob.outcome(committed)).state());
      assertEquals(TransactionState.UNKNOWN, bobs.outcome(committed));
      assertEquals(1, count());
    }
  }

  @Test
  void shouldShowSessionsAndTransactionsOfTheProcess() {
    long handle = door.begin();
    String seen =
        "select count(*) from kakehashi_catalog.sessions where client_kind = 'http' and application_name = 'test'"
            + " and user_name = 'alice' and handle = ";
    assertEquals(1, door.number(seen + handle, AUTO));
    try (PreparedStatement query = java.prepare(seen + handle);
        Rows rows = java.query(query)) {
      rows.next();
      assertEquals(1, rows.getLong(0));
    }
    assertEquals(
        1,
        door.number(
            "select count(*) from kakehashi_catalog.transactions where handle = " + handle, AUTO));
    succeeded(door.rollback(handle));
    assertEquals(0, door.number(seen + handle, AUTO));
  }

  /// Two clients, as the servers of one backend are: each counts its savepoints by itself.
  private void twice(SavepointEnds test) {
    try (Session other = attach("alice");
        Transaction first = java.begin()) {
      Transaction second = other.continueTransaction(first.token());
      test.run(first, second);
      first.commit();
    }
  }

  @FunctionalInterface
  private interface SavepointEnds {
    void run(Transaction first, Transaction second);
  }

  private void insert(Transaction transaction, int id) {
    try (Session session = attach("alice")) {
      Transaction joined = session.continueTransaction(transaction.token());
      update(session, joined, "insert into t values (" + id + ", 0)");
    }
  }

  @Test
  void shouldReleaseSavepointsOfTwoClientsInAnyOrder() {
    twice((first, second) -> {
      for (int order = 0; order < 2; order++) {
        int one = first.savepoint();
        int two = second.savepoint();
        insert(first, order);
        if (order == 0) {
          first.releaseSavepoint(one);
          second.releaseSavepoint(two);
        } else {
          second.releaseSavepoint(two);
          first.releaseSavepoint(one);
        }
      }
    });
    assertEquals(2, count());
  }

  @Test
  void shouldRollBackToSavepointsOfTwoClientsInAnyOrder() {
    twice((first, second) -> {
      for (int order = 0; order < 2; order++) {
        int one = first.savepoint();
        insert(first, 10 + order);
        int two = second.savepoint();
        insert(first, 20 + order);
        Transaction earlier = order == 0 ? first : second;
        Transaction later = order == 0 ? second : first;
        earlier.rollbackToSavepoint(order == 0 ? one : two);
        earlier.releaseSavepoint(order == 0 ? one : two);
        later.rollbackToSavepoint(order == 0 ? two : one);
        later.releaseSavepoint(order == 0 ? two : one);
      }
      insert(first, 1);
    });
    assertEquals(1, count());
  }

  @Test
  void shouldRollBackToASavepointAfterAnotherClientHasReleasedOneBelow() {
    twice((first, second) -> {
      int one = first.savepoint();
      insert(first, 1);
      int two = second.savepoint();
      insert(first, 2);
      first.releaseSavepoint(one);
      second.rollbackToSavepoint(two);
      insert(first, 3);
      second.releaseSavepoint(two);
      assertRefused("3B001", () -> first.rollbackToSavepoint(one));
      assertRefused("3B001", () -> second.releaseSavepoint(two));
    });
    assertEquals(2, count());
  }

  @Test
  void shouldRollBackWhatWaitsForItsReader() throws InterruptedException {
    long handle = door.begin();
    BatchSink sink = new BatchSink(1);
    RequestDoor.Running running =
        door.start(
            door.prepare("select i from generate_series(1, 1000000) i"),
            ParameterBatch.NONE,
            within(handle),
            sink);
    while (sink.waiters() == 0) {
      assertFalse(running.answer().isDone(), "the sink holds all of it");
      Thread.onSpinWait();
    }
    assertEquals(TransactionState.ABORTED, succeeded(door.rollback(handle)).state());
    assertFailed("57014", running.get());
    assertEquals(0, count());
  }

  @Test
  void shouldRefuseATransactionThatHasNoHandle() {
    assertFailed("25P01", door.commit(4711));
  }
}
