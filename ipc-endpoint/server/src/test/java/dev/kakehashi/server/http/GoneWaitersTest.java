package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Clients of HTTP/1.1 who wait for tasks and go: nothing is lent to them, and nothing counts as an attempt.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
class GoneWaitersTest {
  private static int queues;
  private static HttpFixture door;
  private HttpConnection alice;
  private TaskQueue queue;
  private String name;

  /// How a client goes.
  enum Going {
    FIN,
    HALF_CLOSE,
    RST
  }

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
    Session session = door.attach("alice");
    name = "gone" + ++queues;
    session.execute("CREATE QUEUE " + name + " WITH (lease = '1h')");
    queue = session.queue(name);
  }

  /// Asks for a task as a client without a session would, over a socket of its own.
  private Socket ask() throws IOException {
    URI uri = door.endpoint().uri();
    Socket socket = new Socket(uri.getHost(), uri.getPort());
    socket
        .getOutputStream()
        .write(
            ("POST /v1/queues/"
                    + name
                    + "/lease?max=1&wait=60s HTTP/1.1\r\nHost: localhost\r\n"
                    + HttpConnection.ALICE
                    + "Content-Length: 0\r\n\r\n")
                .getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private void awaitWaiting(int count) {
    Await.until(
        count + " wait",
        () -> {
          try {
            return alice.get("/v1/queues/" + name).expect(200).json().at("/rows/0/waiting").asInt()
                == count;
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  private static void leave(Socket socket, Going going) throws IOException {
    switch (going) {
      case FIN -> socket.close();
      case HALF_CLOSE -> socket.shutdownOutput();
      case RST -> {
        socket.setSoLinger(true, 0);
        socket.close();
      }
    }
  }

  private JsonNode leaseOne() throws IOException {
    return alice.post("/v1/queues/" + name + "/lease?wait=20s").expect(200).json().at("/rows/0");
  }

  @ParameterizedTest
  @EnumSource(Going.class)
  void shouldLendNothingToAClientWhoHasGone(Going going) throws IOException {
    for (int i = 0; i < 8; i++) {
      try (Socket waiter = ask()) {
        awaitWaiting(1);
        leave(waiter, going);
        long number = queue.enqueue(Integer.toString(i));
        JsonNode task = leaseOne();
        assertEquals(number, task.path("task_id").asLong());
        assertEquals(1, task.path("attempt").asInt());
        alice.post("/v1/leases/" + task.path("token").asText() + ":complete").expect(200);
      }
      awaitWaiting(0);
    }
  }

  /// Many tasks are a long answer, which is written while it comes. It is longer than the buffers of both sockets may become (4 and 32 MB
  /// with Linux' settings): what is in them as a whole has been sent, and who has closed one half may read it.
  @ParameterizedTest
  @EnumSource(Going.class)
  void shouldGiveALongAnswerBack(Going going) throws IOException {
    enqueueLong(100);
    try (Socket reader = askForAll()) {
      reader.getInputStream().readNBytes(1000);
      leave(reader, going);
      leaseAgain(100);
    }
  }

  private void enqueueLong(int tasks) {
    String payload = "\"" + "x".repeat(400_000) + "\"";
    queue.enqueue(null, Collections.nCopies(tasks, TaskDraft.ofJson(payload)));
  }

  /// A lease of up to 100 tasks, by a client whose buffer is small.
  private Socket askForAll() throws IOException {
    Socket reader = new Socket(door.endpoint().uri().getHost(), door.endpoint().uri().getPort());
    reader.setReceiveBufferSize(4096);
    reader
        .getOutputStream()
        .write(
            ("POST /v1/queues/"
                    + name
                    + "/lease?max=100 HTTP/1.1\r\nHost: localhost\r\n"
                    + HttpConnection.ALICE
                    + "Content-Length: 0\r\n\r\n")
                .getBytes(StandardCharsets.UTF_8));
    return reader;
  }

  /// Waits until the door's socket takes no more bytes for this reader.
  private static void awaitFull(Socket reader) {
    // local address, remote address, state, bytes to be sent and to be read, all in hexadecimal
    String line =
        " [0-9A-F]+:%04X [0-9A-F]+:%04X [0-9A-F]+ ([0-9A-F]+):"
            .formatted(reader.getPort(), reader.getLocalPort());
    Pattern sending = Pattern.compile(line);
    long[] before = {0};
    Await.until(
        "a full socket",
        () -> {
          long now = bytesToSend(sending);
          boolean isFull = now > 1_000_000 && now == before[0];
          before[0] = now;
          return isFull;
        });
  }

  private static long bytesToSend(Pattern sending) {
    try {
      for (String file : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
        Matcher matcher = sending.matcher(Files.readString(Path.of(file)));
        if (matcher.find()) {
          return Long.parseLong(matcher.group(1), 16);
        }
      }
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Leases as many tasks again, each for the first time.
  private void leaseAgain(int tasks) throws IOException {
    int got = 0;
    while (got < tasks) {
      JsonNode rows =
          alice
              .post("/v1/queues/" + name + "/lease?max=100&wait=20s")
              .expect(200)
              .json()
              .path("rows");
      for (JsonNode row : rows) {
        assertEquals(1, row.path("attempt").asInt());
        got++;
      }
    }
  }

  /// Its statement has ended when the answer breaks: the last rows wait for a reader who has filled the sockets' buffers, of 4 MB.
  @ParameterizedTest
  @ValueSource(ints = {12, 13, 14, 16})
  void shouldGiveTheRestOfAnAnswerBack(int tasks) throws IOException {
    enqueueLong(tasks);
    try (Socket reader = askForAll()) {
      reader.getInputStream().readNBytes(1000);
      awaitFull(reader);
      leave(reader, Going.RST);
      leaseAgain(tasks);
    }
  }

  @Test
  void shouldLendToTheLivingOfMany() throws IOException {
    List<Socket> gone = new ArrayList<>();
    List<Socket> living = new ArrayList<>();
    try {
      for (int i = 0; i < 20; i++) {
        (i % 2 == 0 ? gone : living).add(ask());
        awaitWaiting(i + 1);
      }
      for (int i = 0; i < gone.size(); i++) {
        leave(gone.get(i), Going.values()[i % Going.values().length]);
      }
      List<TaskDraft> drafts = new ArrayList<>();
      for (int i = 0; i < living.size(); i++) {
        drafts.add(TaskDraft.ofJson(Integer.toString(i)));
      }
      queue.enqueue(null, drafts);
      Set<String> seen = new HashSet<>();
      for (Socket each : living) {
        each.setSoTimeout(20_000);
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\"task_id\"") < 0 || text.indexOf("\"attempt\"") < 0) {
          text.append(new String(some(each), StandardCharsets.UTF_8));
        }
        assertEquals("1", text.toString().replaceAll("(?s).*\"attempt\":([0-9]+).*", "$1"));
        seen.add(text.toString().replaceAll("(?s).*\"task_id\":\"?([0-9]+).*", "$1"));
      }
      assertEquals(living.size(), seen.size());
    } finally {
      for (List<Socket> sockets : List.of(gone, living)) {
        for (Socket each : sockets) {
          each.close();
        }
      }
    }
  }

  private static byte[] some(Socket socket) throws IOException {
    byte[] bytes = new byte[4096];
    int length = socket.getInputStream().read(bytes);
    if (length < 0) {
      throw new java.io.EOFException("the connection has ended");
    }
    return java.util.Arrays.copyOf(bytes, length);
  }
}
