package dev.kakehashi.server.http;

import static dev.kakehashi.server.http.HttpConnection.ending;
import static dev.kakehashi.server.http.HttpConnection.in;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Clients that go away at a random byte of their request or its answer. The same bytes by `-Dkakehashi.seed=…`.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpGoneClientsTest {
  private static final long SEED = Long.getLong("kakehashi.seed", System.nanoTime());
  private static final int CLIENTS = 200;

  private final Random random = new Random(SEED);
  private HttpFixture door;
  private HttpConnection alice;

  @BeforeEach
  void start() throws IOException {
    System.out.println("seed " + SEED);
    door = HttpFixture.start();
    alice = door.alice();
    alice
        .sql("create table log (seq int8 primary key generated always as identity, k int8)")
        .expect(200);
  }

  @AfterEach
  void stop() throws Exception {
    door.close();
  }

  private static byte[] request(String sql, String... fields) {
    byte[] body = sql.getBytes(StandardCharsets.UTF_8);
    return ("POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sql\r\nContent-Length: "
            + body.length
            + "\r\n"
            + HttpConnection.ALICE
            + String.join("\r\n", fields)
            + "\r\n\r\n"
            + sql)
        .getBytes(StandardCharsets.UTF_8);
  }

  /// Sends a part of a request, or all of it, perhaps reads a part of the answer, and goes.
  ///
  /// @return whether all was sent
  private boolean sendAndGo(byte[] request) throws IOException {
    try (HttpConnection client = HttpConnection.open(door.endpoint().uri(), "")) {
      boolean isWhole = random.nextBoolean();
      int sent = isWhole ? request.length : random.nextInt(request.length);
      client.send(java.util.Arrays.copyOf(request, sent));
      if (isWhole && random.nextBoolean()) {
        client.some(1 + random.nextInt(100));
      }
      return isWhole;
    }
  }

  @Test
  void shouldChangeEachRowOnceWhenTheyComeAgain() throws IOException {
    for (int i = 0; i < CLIENTS; i++) {
      String sql = "insert into log (k) values (" + i + ")";
      String key = "Idempotency-Key: \"gone " + i + "\"";
      sendAndGo(request(sql, key));
      HttpAnswer again = alice.sql(sql, key);
      while (again.status() == 409) {
        again = alice.sql(sql, key);
      }
      assertEquals("1", again.expect(200).header("Kakehashi-Rows"));
    }
    assertEquals(
        List.of(List.of(Integer.toString(CLIENTS), Integer.toString(CLIENTS))),
        alice.sql("select count(*), count(distinct k) from log").rows());
  }

  @Test
  void shouldDoAllOrNothingOfWhatTheySent() throws IOException {
    List<Integer> cut = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      if (!sendAndGo(request("insert into log (k) values (" + i + ")", "X-Nothing: 1"))) {
        cut.add(i);
      }
    }
    // A request that came in part never runs.
    String numbers = String.join(",", cut.stream().map(String::valueOf).toList());
    assertEquals("0", alice.sql("select count(*) from log where k in (" + numbers + ")").value());
    assertEquals(
        "0",
        alice
            .sql("select count(*) from (select k from log group by k having count(*) > 1) d")
            .value());
  }

  /// Whether the end was sent, came in part or was answered: its outcome says whether the row is there.
  @Test
  void shouldKnowTheOutcomeOfTheirTransactions() throws IOException {
    int committed = 0;
    for (int i = 0; i < CLIENTS / 2; i++) {
      String handle = alice.post("/v1/transactions").expect(201).handle();
      alice.sql("insert into log (k) values (" + i + ")", in(handle)).expect(200);
      sendAndGo(request("select 1", ending(handle)));
      HttpAnswer outcome = alice.get("/v1/transactions/" + handle).expect(200);
      String state = outcome.state();
      if (state.equals("active")) {
        // The request did not come, or is still on its way: whoever ends it now learns which.
        state = alice.post("/v1/transactions/" + handle + "/rollback").expect(200).state();
      }
      String rows = alice.sql("select count(*) from log where k = " + i).value();
      assertTrue(state.equals("committed") || state.equals("aborted"), state);
      assertEquals(state.equals("committed") ? "1" : "0", rows, outcome::toString);
      committed += state.equals("committed") ? 1 : 0;
    }
    assertTrue(committed > 0 && committed < CLIENTS / 2, committed + " committed");
  }
}
