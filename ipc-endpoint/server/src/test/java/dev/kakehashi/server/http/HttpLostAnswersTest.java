package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Answers to requests after a kill of the endpoint that has lost their first answers: what has committed of them, and no more.
@Timeout(300)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpLostAnswersTest {
  private static final int ROWS = 2_000_000;
  private static final String KEY = "Idempotency-Key: \"once\"";
  private static final String ASYNC = "Prefer: respond-async";
  private static final String WAIT = "Prefer: respond-async, wait=60";

  private Path directory;
  private Path socket;
  private EndpointProcess endpoint;

  @BeforeEach
  void start() throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    socket = directory.resolve("http");
    endpoint =
        EndpointProcess.open(
            "http_socket=" + socket, "bulk_locations=files:" + directory + ":readwrite");
  }

  @AfterEach
  void stop() throws Exception {
    endpoint.close();
    Directories.delete(directory);
  }

  private HttpConnection open() throws IOException {
    return HttpConnection.open(socket, "");
  }

  private static HttpAnswer load(HttpConnection connection, String options, String... fields)
      throws IOException {
    String body =
        "{\"table\":\"t\",\"from\":\"files:many.csv\",\"format\":\"csv\",\"options\":{"
            + options
            + "}}";
    String[] all = java.util.Arrays.copyOf(fields, fields.length + 1);
    all[fields.length] = "Content-Type: application/json";
    return connection.send("POST /v1/load", body.getBytes(StandardCharsets.UTF_8), all).answer();
  }

  /// The journal is put back to what it was when the statement was about to commit: so it looks if the kill comes behind the commit.
  @Test
  void shouldSayThatAStatementHasCommittedWhoseAnswerIsLost() throws Exception {
    String update = "update t set v = v + 1 where k = 1";
    Path journal = endpoint.dataDirectory().resolve("http").resolve("journal");
    try (HttpConnection alice = open();
        HttpConnection waiting = open()) {
      alice.sql("create table t (k int8 primary key, v int8)").expect(200);
      alice.sql("insert into t values (1, 0)").expect(200);
      String holder =
          alice
              .sql("select v from t where k = 1 for update", HttpConnection.within("begin"))
              .handle();
      String job = waiting.sql(update, ASYNC, KEY).expect(202).header("Location");
      Await.until(
          "the statement waits in its transaction",
          () -> {
            try {
              return alice.get(job).expect(200).json().has("transaction")
                  && !alice.sql("select count(*) from kakehashi_catalog.waits").value().equals("0");
            } catch (IOException e) {
              throw new java.io.UncheckedIOException(e);
            }
          });
      byte[] before = Files.readAllBytes(journal);
      alice.post("/v1/transactions/" + holder + "/rollback").expect(200);
      assertEquals(1, alice.get(job + "?wait=60").expect(200).json().path("rows").asInt());
      endpoint.kill();
      try (FileChannel file = FileChannel.open(journal, StandardOpenOption.WRITE)) {
        file.truncate(before.length);
        file.write(ByteBuffer.wrap(before), 0);
      }
    }
    endpoint.start();
    try (HttpConnection alice = open()) {
      for (int i = 0; i < 2; i++) {
        HttpAnswer answer = alice.sql(update, WAIT, KEY);
        JsonNode problem = answer.problem(410, "");
        assertTrue(problem.path("type").asText().endsWith("result-lost"), answer::toString);
        assertFalse(problem.path("retryable").asBoolean(), answer::toString);
        assertEquals("committed", answer.state(), answer::toString);
        assertEquals("", answer.header("Kakehashi-Rows"), answer::toString);
        JsonNode job = alice.get("/v1/jobs/" + problem.path("job").asText()).expect(200).json();
        assertEquals("succeeded", job.path("state").asText(), job::toString);
        assertEquals("lost", job.path("result").asText(), job::toString);
      }
      assertEquals("1", alice.sql("select v from t where k = 1").value());
    }
  }

  @Test
  void shouldCountWhatALoadInBatchesHasCommitted() throws Exception {
    makeFile();
    String options = "\"batch_rows\":1000,\"workers\":1";
    String location;
    try (HttpConnection alice = open()) {
      alice.sql("create table t (k int8, v int8)").expect(200);
      location = load(alice, options, ASYNC, KEY).expect(202).header("Location");
      awaitRows(alice);
      JsonNode job = alice.get(location).expect(200).json();
      assertTrue(job.path("progress").path("rowsScanned").asLong() > 0, job::toString);
      assertTrue(job.path("progress").path("rows").isNull(), job::toString);
      endpoint.kill();
    }
    endpoint.start();
    try (HttpConnection alice = open()) {
      long there = Long.parseLong(alice.sql("select count(*) from t").value());
      assertTrue(there > 0 && there < ROWS, "the kill came too late: " + there);
      JsonNode job = alice.get(location).expect(200).json();
      assertEquals("interrupted", job.path("state").asText(), job::toString);
      assertEquals(there, job.path("progress").path("rows").asLong(), job::toString);
      assertEquals(
          "the job was interrupted; " + there + " rows are committed",
          job.path("problem").path("detail").asText());
      HttpAnswer whole = load(alice, options, WAIT, KEY).expect(200);
      assertEquals(String.valueOf(ROWS), whole.header("Kakehashi-Rows"), whole::toString);
      assertEquals(String.valueOf(ROWS), whole.rows().getFirst().get(1), whole::toString);
      assertEquals(String.valueOf(ROWS), alice.sql("select count(distinct k) from t").value());
      job = alice.get(location).expect(200).json();
      assertEquals(ROWS, job.path("rows").asLong(), job::toString);
      assertTrue(job.path("progress").path("rowsScanned").asLong() > 0, job::toString);
    }
  }

  @Test
  void shouldNotSayThatALoadWithoutANameHadNoEffect() throws Exception {
    makeFile();
    String location;
    try (HttpConnection alice = open()) {
      alice.sql("create table t (k int8, v int8)").expect(200);
      location =
          load(alice, "\"batch_rows\":1000,\"workers\":1", ASYNC).expect(202).header("Location");
      awaitRows(alice);
      endpoint.kill();
    }
    endpoint.start();
    try (HttpConnection alice = open()) {
      JsonNode job = alice.get(location).expect(200).json();
      assertEquals("interrupted", job.path("state").asText(), job::toString);
      assertTrue(job.path("progress").path("rows").isNull(), job::toString);
      assertEquals(
          "the job was interrupted; how much of it has committed is not known",
          job.path("problem").path("detail").asText());
    }
  }

  private void makeFile() throws IOException {
    StringBuilder many = new StringBuilder();
    for (int i = 0; i < ROWS; i++) {
      many.append(i).append(",1\n");
    }
    Files.writeString(directory.resolve("many.csv"), many);
  }

  private static void awaitRows(HttpConnection connection) {
    Await.until(
        "some batches have committed",
        () -> {
          try {
            return !connection.sql("select count(*) from t").value().equals("0");
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
  }
}
