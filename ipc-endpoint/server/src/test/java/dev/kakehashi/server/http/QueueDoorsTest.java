package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.QueueTask;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Queues through HTTP and the Java client: what one door puts in, the other gets.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
class QueueDoorsTest {
  private static final String JSON = "Content-Type: application/json";
  private static final Duration SOON = Duration.ofSeconds(20);
  private static int queues;
  private static HttpFixture door;
  private HttpConnection alice;
  private Session session;
  private String name;
  private TaskQueue queue;

  @BeforeAll
  static void start() throws IOException {
    door = HttpFixture.start();
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @BeforeEach
  void makeQueue() throws IOException {
    alice = door.alice();
    session = door.attach("alice");
    name = "q" + ++queues;
    session.execute("CREATE QUEUE " + name + " WITH (min_backoff = '1ms', max_attempts = 3)");
    queue = session.queue(name);
  }

  private HttpAnswer post(String path, String body, String... fields) throws IOException {
    String[] all = java.util.Arrays.copyOf(fields, fields.length + 1);
    all[fields.length] = JSON;
    return alice.send("POST " + path, body.getBytes(StandardCharsets.UTF_8), all).answer();
  }

  private HttpAnswer enqueue(String body, String... fields) throws IOException {
    return post("/v1/queues/" + name + "/tasks", body, fields);
  }

  private HttpAnswer lease(String query) throws IOException {
    return alice.post("/v1/queues/" + name + "/lease" + query);
  }

  private JsonNode leaseOne() throws IOException {
    JsonNode rows = lease("?wait=20s").expect(200).json().path("rows");
    assertEquals(1, rows.size(), rows::toString);
    return rows.path(0);
  }

  private QueueTask receive() {
    Optional<QueueTask> task = queue.receive(SOON);
    assertTrue(task.isPresent());
    return task.get();
  }

  @ParameterizedTest
  @CsvSource({"java,java", "java,http", "http,java", "http,http", "sql,java", "sql,http"})
  void shouldCarryATaskFromDoorToDoor(String in, String out) throws IOException {
    String payload = "{\"n\": 12345678901234567890.50, \"t\": \"ü\\u0001\"}";
    long number =
        switch (in) {
          case "java" ->
              queue.enqueue(
                  null, TaskDraft.ofJson(payload).withKey("k").withFair("f").withPriority(7));
          case "http" ->
              enqueue("{\"payload\":" + payload + ",\"key\":\"k\",\"fair\":\"f\",\"priority\":7}")
                  .expect(201)
                  .json()
                  .at("/rows/0/task_id")
                  .asLong();
          default ->
              Long.parseLong(
                  alice
                      .sql(
                          "select enqueue('"
                              + name
                              + "', '"
                              + payload
                              + "'::jsonb, key => 'k', fair => 'f', priority => 7)")
                      .expect(200)
                      .rows()
                      .getFirst()
                      .getFirst());
        };

    if (out.equals("java")) {
      QueueTask task = receive();
      assertEquals(number, task.taskId());
      assertEquals(payload, task.json());
      assertEquals("k", String.valueOf(task.key()));
      assertEquals("f", String.valueOf(task.fair()));
      assertEquals(7, task.priority());
      assertEquals(1, task.attempt());
      assertFalse(task.lost());
      task.complete();
      assertThrows(EndpointException.class, task::complete);
    } else {
      HttpAnswer answer = lease("?wait=20s&max=10").expect(200);
      JsonNode task = answer.json().at("/rows/0");
      assertEquals(number, task.path("task_id").asLong(), answer::toString);
      assertTrue(answer.text().contains("\"payload\":" + payload), answer::toString);
      assertEquals("k", task.path("key").asText());
      assertEquals("f", task.path("fair").asText());
      assertEquals(7, task.path("priority").asInt());
      assertTrue(task.path("last_error").isNull());
      String lease = "/v1/leases/" + task.path("token").asText();
      assertEquals(
          1, alice.post(lease + ":complete").expect(200).json().at("/rows/0/completed").asInt());
      HttpAnswer again = alice.post(lease + ":complete").expect(409);
      assertEquals("55K01", again.json().path("sqlstate").asText());
      assertTrue(again.json().path("type").asText().endsWith(":lease-lost"), again::toString);
    }
    lease("").expect(204);
  }

  @Test
  void shouldTakeManyTasksAndBytes() throws IOException {
    JsonNode rows =
        enqueue("[{\"payload\":1},{\"payload\":null},{\"payload\":[]}]")
            .expect(201)
            .json()
            .path("rows");
    assertEquals(3, rows.size());
    assertEquals(3, lease("?max=10").expect(200).json().path("rows").size());

    enqueue("{\"body\":\"\\\\x00ff\"}").expect(201);
    QueueTask task = receive();
    assertFalse(task.isJson());
    assertEquals(List.of((byte) 0, (byte) -1), List.of(task.bytes()[0], task.bytes()[1]));
    enqueue("[{\"body\":\"\\\\x00\"},{\"payload\":1}]").expect(400);
    enqueue("{}").expect(400);
    enqueue("[]").expect(400);
    enqueue("{\"payload\":1,\"prio\":2}").expect(400);
    enqueue("{\"payload\":1,\"priority\":10}").expect(422);
    lease("?wait=61s").expect(400);
    lease("?max=1001").expect(400);
    alice.post("/v1/queues/none/lease").expect(400);
    alice.get("/v1/queues/none").expect(404);
  }

  @Test
  void shouldFailReleaseAndExtendOverHttp() throws IOException {
    queue.enqueue("1");
    JsonNode first = leaseOne();
    String lease = "/v1/leases/" + first.path("token").asText();
    alice.post(lease + ":extend?lease=10m").expect(200);
    post(lease + ":fail", "{\"error\":\"no paper\",\"retry_in\":\"0s\"}").expect(200);
    alice.post(lease + ":extend").expect(409);

    JsonNode second = leaseOne();
    assertEquals(2, second.path("attempt").asInt());
    assertEquals("no paper", second.path("last_error").asText());
    alice.post("/v1/leases/" + second.path("token").asText() + ":release").expect(200);

    JsonNode third = leaseOne();
    assertEquals(2, third.path("attempt").asInt());
    post("/v1/leases:complete", "{\"tokens\":[\"" + third.path("token").asText() + "\"]}")
        .expect(200);
    lease("").expect(204);
  }

  @Test
  void shouldEnqueueAndCompleteInATransactionOverHttp() throws IOException {
    String begun = alice.post("/v1/transactions").expect(201).header("Location");
    String handle = begun.substring(begun.lastIndexOf('/') + 1);
    String field = HttpAnswer.TRANSACTION + ": continue;handle=\"" + handle + "\"";
    enqueue("{\"payload\":1}", field).expect(201);
    lease("").expect(204);
    alice.post(begun + "/commit").expect(200);
    JsonNode task = leaseOne();

    begun = alice.post("/v1/transactions").expect(201).header("Location");
    handle = begun.substring(begun.lastIndexOf('/') + 1);
    field = HttpAnswer.TRANSACTION + ": continue;handle=\"" + handle + "\"";
    String lease = "/v1/leases/" + task.path("token").asText();
    alice.post(lease + ":complete", field).expect(200);
    alice.post(begun + "/rollback").expect(200);
    alice.post(lease + ":complete").expect(200);
    alice.post("/v1/queues/" + name + "/lease", HttpAnswer.TRANSACTION + ": begin").expect(400);
  }

  @Test
  void shouldEnqueueOnceUnderOneKey() throws IOException {
    String key = "Idempotency-Key: \"" + name + "\"";
    String first = enqueue("{\"payload\":1}", key).expect(201).text();
    assertEquals(first, enqueue("{\"payload\":1}", key).expect(201).text());
    assertEquals(1, lease("?max=10").expect(200).json().path("rows").size());
  }

  @Test
  void shouldAnswerAWaitingRequestWhenATaskComes() throws IOException {
    alice.send("POST /v1/queues/" + name + "/lease?wait=60s", new byte[0]);
    awaitWaiting();
    long number = queue.enqueue("1");
    HttpAnswer answer = alice.answer().expect(200);
    assertEquals(number, answer.json().at("/rows/0/task_id").asLong());
  }

  private void awaitWaiting() {
    try (HttpConnection looker = door.alice()) {
      Await.until(
          "somebody waits",
          () -> {
            try {
              return looker
                      .get("/v1/queues/" + name)
                      .expect(200)
                      .json()
                      .at("/rows/0/waiting")
                      .asInt()
                  > 0;
            } catch (IOException e) {
              throw new java.io.UncheckedIOException(e);
            }
          });
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void shouldCancelTasks() throws IOException {
    long number = queue.enqueue("1");
    HttpAnswer answer =
        alice.send("DELETE /v1/queues/" + name + "/tasks/" + number, new byte[0]).answer();
    assertTrue(answer.expect(200).json().at("/rows/0/canceled").asBoolean());
    lease("").expect(204);
    assertFalse(queue.cancel(null, number));
  }

  @Test
  void shouldKeepEffectsAndCompletionTogether() {
    session.execute("CREATE TABLE IF NOT EXISTS sent (id int8 PRIMARY KEY)");
    long number = queue.enqueue("1");
    QueueTask task = receive();
    try (Transaction transaction = session.begin();
        var insert = session.prepare("INSERT INTO sent VALUES ($1)")) {
      transaction.update(insert, insert.parameters().addRow(number));
      task.complete(transaction);
      transaction.rollback();
    }
    try (Transaction transaction = session.begin();
        var insert = session.prepare("INSERT INTO sent VALUES ($1)")) {
      transaction.update(insert, insert.parameters().addRow(number));
      task.complete(transaction);
      transaction.commit();
    }
    assertTrue(queue.receive(Duration.ZERO).isEmpty());
  }

  @Test
  void shouldLendAgainAtOnceWhatAClosedSessionHas() {
    queue.enqueue("1");
    try (Session other = door.endpoint().attach("alice")) {
      assertEquals(1, other.queue(name).receive(SOON).orElseThrow().attempt());
    }
    assertEquals(2, receive().attempt());
  }

  @Test
  void shouldCompleteAndReceiveInOneRequest() {
    queue.enqueue(null, List.of(TaskDraft.ofJson("1"), TaskDraft.ofJson("2")));
    QueueTask first = receive();
    List<QueueTask> next = queue.completeAndReceive(List.of(first), 1, SOON);
    assertEquals("2", next.getFirst().json());
    assertEquals(List.of(), queue.completeAndReceive(next, 1, Duration.ZERO));
    assertThrows(EndpointException.class, first::complete);
    assertTrue(first.lost());
  }
}
