package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.DiskFaultTest;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// An endpoint of a gigabyte beside many slow clients, and one whose disk is full. It is a process of its own, so that running out of
/// memory would end it.
@Timeout(180)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpBadLuckTest {
  private static final String[] SETTINGS = {
    "http_connections=4000", "http_address_connections=4000", "http_user_requests=3000"
  };

  private final List<AutoCloseable> opened = new ArrayList<>();
  private Path directory;
  private Path socket;

  @BeforeEach
  void directory() throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    socket = directory.resolve("http");
  }

  @AfterEach
  void end() throws Exception {
    for (AutoCloseable one : opened.reversed()) {
      one.close();
    }
    Directories.delete(directory);
  }

  private EndpointProcess endpoint(Map<String, String> environment, String... settings)
      throws IOException {
    Map<String, String> all = new HashMap<>(environment);
    all.put("JAVA_TOOL_OPTIONS", "-Xmx1g");
    String[] list = java.util.Arrays.copyOf(settings, settings.length + 1);
    list[settings.length] = "http_socket=" + socket;
    EndpointProcess endpoint = EndpointProcess.open(all, list);
    opened.add(endpoint);
    return endpoint;
  }

  private HttpConnection connect() throws IOException {
    HttpConnection connection = HttpConnection.open(socket, "");
    opened.add(connection);
    return connection;
  }

  private String one() throws IOException {
    try (HttpConnection connection = HttpConnection.open(socket, "")) {
      return connection.sql("select 1").value();
    }
  }

  private static long one(Session session) {
    try (PreparedStatement query = session.prepare("select 1::int8");
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  @Test
  void shouldBoundWhatSlowReadersOfLongAnswersTake() throws IOException {
    try (EndpointProcess endpoint = endpoint(Map.of(), SETTINGS);
        Session session = endpoint.attach()) {
      int served = 0;
      int refused = 0;
      for (int i = 0; i < 600; i++) {
        HttpConnection reader = connect();
        reader.sendSql(
            "select i, i * 7919 % 1000003 as a, repeat(md5(i::text), 20) as b from generate_series(1, 10000000) i",
            "Accept: application/vnd.apache.arrow.stream", "Accept-Encoding: zstd");
        HttpConnection.Head head = reader.head();
        if (head.status() == 200) {
          served++;
        } else {
          reader.body(head).problem(503, "53200");
          refused++;
        }
      }
      assertTrue(served >= 100, served + " served, " + refused + " refused");
      assertTrue(refused >= 100, served + " served, " + refused + " refused");
      assertEquals("1", one());
      assertEquals(1, one(session));
      for (AutoCloseable reader : opened) {
        if (reader instanceof HttpConnection connection) {
          connection.close();
        }
      }
      Await.until(
          "there is room again",
          () -> {
            try (HttpConnection connection = HttpConnection.open(socket, "")) {
              return connection
                      .sql("select i from generate_series(1, 100000) i", "Accept: text/csv")
                      .status()
                  == 200;
            } catch (IOException e) {
              throw new java.io.UncheckedIOException(e);
            }
          });
    }
  }

  @Test
  void shouldServeBesideAThousandLongPollsAndAnswerThem() throws IOException {
    try (EndpointProcess endpoint = endpoint(Map.of(), SETTINGS);
        Session session = endpoint.attach()) {
      HttpConnection alice = connect();
      String job =
          alice.sql(HttpFixture.ENDLESS, "Prefer: respond-async").expect(202).header("Location");
      List<HttpConnection> polls = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        polls.add(connect().send("GET " + job + "?wait=120", new byte[0]));
      }
      // Connections that are opened and left.
      for (int i = 0; i < 200; i++) {
        HttpConnection left = connect();
        if (i % 2 == 0) {
          left.send("POST /v1/sql HT".getBytes(StandardCharsets.US_ASCII));
        }
      }
      assertEquals("1", one());
      assertEquals(1, one(session));
      alice.post(job + "/cancel");
      for (HttpConnection poll : polls) {
        JsonNode seen = poll.answer().expect(200).json();
        assertEquals("canceled", seen.path("state").asText(), seen::toString);
      }
    }
  }

  private void fault(Path control, char kind) throws IOException {
    // The byte is changed in place: the endpoint has the file mapped.
    try (var file = new RandomAccessFile(control.toFile(), "rw")) {
      file.write(kind);
    }
  }

  @Test
  void shouldGoOnWhenTheDiskIsFullOfResults() throws Exception {
    Path control = directory.resolve("control");
    Files.writeString(control, "0", StandardCharsets.US_ASCII);
    Map<String, String> faults =
        Map.of(
            "LD_PRELOAD", DiskFaultTest.library(directory).toString(),
            "KAKEHASHI_FAULT_CONTROL", control.toString(),
            "KAKEHASHI_FAULT_PATH", "/data/http/results");
    String rows = "select i, repeat('x', 100) from generate_series(1, 20000) i";
    try (EndpointProcess endpoint = endpoint(faults);
        Session session = endpoint.attach()) {
      HttpConnection alice = connect();
      alice.sql("create table t (id int8 primary key)").expect(200);
      alice.sql(rows, "Prefer: wait=50", "Accept: text/csv").expect(200);
      long before = results(endpoint);
      fault(control, 'n');
      JsonNode problem =
          alice.sql(rows, "Prefer: wait=50", "Accept: text/csv").problem(507, "53100");
      JsonNode job = alice.get("/v1/jobs/" + problem.path("job").asText()).expect(200).json();
      assertEquals("failed", job.path("state").asText(), job::toString);
      assertEquals(0, job.path("files").size(), job::toString);
      assertEquals(before, results(endpoint));
      // Work that needs no file goes on, as does a session by shared memory.
      assertEquals("1", one());
      assertEquals("1", alice.sql("insert into t values (1)").expect(200).header("Kakehashi-Rows"));
      alice.sql(rows, "Accept: text/csv").expect(200);
      session.execute("insert into t values (2)");
      fault(control, '0');
      alice.sql(rows, "Prefer: wait=50", "Accept: text/csv").expect(200);
      assertEquals("2", alice.sql("select count(*) from t").value());
    }
  }

  private static long results(EndpointProcess endpoint) throws IOException {
    try (Stream<Path> files =
        Files.walk(endpoint.dataDirectory().resolve("http").resolve("results"))) {
      return files.filter(Files::isRegularFile).count();
    }
  }
}
