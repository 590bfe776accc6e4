package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.authentication.ScramClient;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.protocol.messages.AttachEncoder;
import dev.kakehashi.protocol.messages.AuthenticationChallengeDecoder;
import dev.kakehashi.protocol.messages.AuthenticationResponseEncoder;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// `authentication = password`: who attaches proves the password, and the endpoint proves that it knows the user.
@SuppressWarnings("NullAway.Init") // set before the tests
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PasswordProofTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String SECRET = "correct horse \u2168";

  private TestEndpoint endpoint;

  @BeforeAll
  void start() throws IOException {
    endpoint = TestEndpoint.start("authentication", "password", "attach_timeout", "1s");
    new UserFile(endpoint.dataDirectory())
        .add("alice", ScramVerifier.of(SECRET.toCharArray()), false);
  }

  @AfterAll
  void stop() throws IOException {
    endpoint.close();
  }

  private static EndpointException refused(Path directory, String user, String password) {
    AttachOptions options = AttachOptions.of(directory).withUser(user, password);
    return assertThrows(EndpointException.class, () -> Session.attach(options));
  }

  private AttachOptions as(String user, String password) {
    return AttachOptions.of(endpoint.runtimeDirectory()).withUser(user, password);
  }

  @Test
  void shouldLetInWhoKnowsThePassword() {
    try (Session session = Session.attach(as("alice", SECRET))) {
      assertTrue(session.isAlive());
    }
    try (Session session = Session.attach(as("alice", "correct horse IX"))) {
      assertTrue(session.isAlive(), "prepared, it is the same password");
    }
  }

  @Test
  void shouldSayTheSameOfAWrongPasswordAndOfAnUnknownUser() {
    for (String user : new String[] {"alice", "mallory"}) {
      EndpointException e = refused(endpoint.runtimeDirectory(), user, "guessed");
      assertEquals("28P01", e.sqlstate(), e.toString());
      assertEquals("password authentication failed for user \"" + user + "\"", e.getMessage());
    }
    EndpointException e = refused(endpoint.runtimeDirectory(), "alice", "");
    assertEquals("28P01", e.sqlstate());
    assertTrue(e.toString().contains("no password given for user \"alice\""), e.toString());
  }

  @Test
  void shouldKeepTheSaltOfWhoDoesNotExistThroughARestart() throws IOException {
    byte[] secret = new UserFile(endpoint.dataDirectory()).secret();
    assertEquals(32, secret.length);
    assertEquals(
        ScramVerifier.ofNobody(secret, "mallory", 4096).format().split("\\$", -1)[1],
        ScramVerifier.ofNobody(new UserFile(endpoint.dataDirectory()).secret(), "mallory", 4096)
            .format()
            .split("\\$", -1)[1]);
    String first = challenge("mallory");
    assertEquals(saltAndCount(first), saltAndCount(challenge("mallory")));
    assertEquals(saltAndCount(first).length(), saltAndCount(challenge("alice")).length());
  }

  private static String saltAndCount(String challenge) {
    return challenge.substring(challenge.indexOf(",s="));
  }

  private String challenge(String user) throws IOException {
    try (SocketChannel socket = connect()) {
      UnsafeBuffer frame = new UnsafeBuffer(new byte[4096]);
      send(socket, frame, attach(frame, user, "", new ScramClient(user, new char[0]).first()));
      UnsafeBuffer answer = receive(socket);
      return Frames.nextText(Frames.wrap(new AuthenticationChallengeDecoder(), answer), answer);
    }
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(
        UnixDomainSocketAddress.of(endpoint.runtimeDirectory().resolve("endpoint.sock")));
  }

  private static int attach(UnsafeBuffer frame, String user, String password, String first) {
    AttachEncoder encoder = new AttachEncoder();
    encoder
        .wrapAndApplyHeader(frame, 0, new MessageHeaderEncoder())
        .layoutVersion(Protocol.LAYOUT_VERSION)
        .processId(1)
        .processStartTicks(0)
        .pidNamespace(0)
        .clientKind(ClientKind.JAVA_CLIENT)
        .applicationName("test")
        .userName(user)
        .password(password)
        .clientVersion("test")
        .authentication(first);
    return Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
  }

  private static void send(SocketChannel socket, UnsafeBuffer frame, int length)
      throws IOException {
    ByteBuffer output = ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN);
    output.putInt(length).put(frame.byteArray(), 0, length).flip();
    while (output.hasRemaining()) {
      socket.write(output);
    }
  }

  private static UnsafeBuffer receive(SocketChannel socket) throws IOException {
    int length = read(socket, 4).getInt(0);
    return new UnsafeBuffer(read(socket, length).array());
  }

  private static ByteBuffer read(SocketChannel socket, int bytes) throws IOException {
    ByteBuffer input = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (input.hasRemaining()) {
      assertTrue(socket.read(input) > 0, "the connection was closed");
    }
    return input;
  }

  private static Failure failure(SocketChannel socket) throws IOException {
    UnsafeBuffer answer = receive(socket);
    return Failure.decode(Frames.wrap(new FailedDecoder(), answer), answer);
  }

  @Test
  void shouldRefuseAPasswordInClear() throws IOException {
    try (SocketChannel socket = connect()) {
      UnsafeBuffer frame = new UnsafeBuffer(new byte[4096]);
      send(socket, frame, attach(frame, "alice", SECRET, ""));
      Failure failure = failure(socket);
      assertEquals("08P01", failure.sqlstate());
      assertEquals("a password is proved, never sent", failure.message());
    }
  }

  @Test
  void shouldRefuseAnAnswerThatIsNoProofAndOneThatIsTooLong() throws IOException {
    for (int bytes : new int[] {4, 1 << 16}) {
      try (SocketChannel socket = connect()) {
        UnsafeBuffer frame = new UnsafeBuffer(new byte[1 << 17]);
        ScramClient client = new ScramClient("alice", SECRET.toCharArray());
        send(socket, frame, attach(frame, "alice", "", client.first()));
        receive(socket);
        AuthenticationResponseEncoder response = new AuthenticationResponseEncoder();
        response
            .wrapAndApplyHeader(frame, 0, new MessageHeaderEncoder())
            .message("x".repeat(bytes));
        if (bytes == 4) {
          send(socket, frame, Protocol.MESSAGE_HEADER_BYTES + response.encodedLength());
          assertEquals("08P01", failure(socket).sqlstate());
        } else {
          // Its length alone ends the connection.
          socket.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(0, bytes));
        }
        awaitEnd(socket);
      }
    }
  }

  private static void awaitEnd(SocketChannel socket) {
    ByteBuffer rest = ByteBuffer.allocate(1 << 16);
    assertTimeoutPreemptively(
        LIMIT,
        () -> {
          while (socket.read(rest) >= 0) {
            rest.clear();
          }
        });
  }

  @Test
  void shouldEndAnExchangeThatTakesLongerThanAnAttachMay() throws IOException {
    try (SocketChannel socket = connect()) {
      UnsafeBuffer frame = new UnsafeBuffer(new byte[4096]);
      send(
          socket, frame, attach(frame, "alice", "", new ScramClient("alice", new char[0]).first()));
      receive(socket);
      awaitEnd(socket);
    }
  }

  @Test
  void shouldNotSendThePasswordToAnybody() throws Exception {
    Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    Path socket = directory.resolve("endpoint.sock");
    ByteArrayOutputStream recorded = new ByteArrayOutputStream();
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      Thread between = Thread.ofPlatform().start(() -> relay(server, recorded));
      EndpointException e = refused(directory, "alice", SECRET);
      assertFalse(e.sqlstate().startsWith("28"), "it went as far as the files: " + e);
      between.join(LIMIT);
    } finally {
      Files.delete(socket);
      Files.delete(directory);
    }
    String bytes = recorded.toString(StandardCharsets.UTF_8);
    assertTrue(bytes.contains("n,,n=alice,r=") && bytes.contains(",p="), "an exchange");
    assertFalse(bytes.contains("correct") || bytes.contains("horse"), "the password");
  }

  /// One connection to the endpoint, both ways; what the client sends is recorded.
  private void relay(ServerSocketChannel server, ByteArrayOutputStream recorded) {
    try (SocketChannel client = server.accept();
        SocketChannel real = connect()) {
      for (int i = 0; i < 2; i++) {
        UnsafeBuffer asked = receive(client);
        recorded.writeBytes(asked.byteArray());
        send(real, asked, asked.capacity());
        UnsafeBuffer answer = receive(real);
        send(client, answer, answer.capacity());
      }
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void shouldRefuseAnEndpointThatLetsAnybodyIn() throws IOException {
    try (TestEndpoint peer = TestEndpoint.start()) {
      EndpointException e = refused(peer.runtimeDirectory(), "alice", SECRET);
      assertEquals("28000", e.sqlstate());
      assertEquals("the endpoint does not accept passwords", e.getMessage());
    }
  }

  @Test
  void shouldRefuseAnEndpointThatKnowsAnotherPasswordOfTheUser() throws Exception {
    Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    Path socket = directory.resolve("endpoint.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      Thread fake = Thread.ofPlatform().start(() -> pretend(server));
      EndpointException e = refused(directory, "alice", SECRET);
      assertEquals("28000", e.sqlstate());
      assertEquals(
          "the endpoint has not proved that it knows the password of user \"alice\"",
          e.getMessage());
      assertFalse(e.failure().hint().isEmpty());
      fake.join(LIMIT);
    } finally {
      Files.delete(socket);
      Files.delete(directory);
    }
  }

  /// Says what the endpoint says, but the signature.
  private void pretend(ServerSocketChannel server) {
    try (SocketChannel client = server.accept();
        SocketChannel real = connect()) {
      UnsafeBuffer asked = receive(client);
      send(real, asked, asked.capacity());
      UnsafeBuffer challenge = receive(real);
      send(client, challenge, challenge.capacity());
      UnsafeBuffer proof = receive(client);
      send(real, proof, proof.capacity());
      UnsafeBuffer attached = receive(real);
      byte[] bytes = attached.byteArray();
      int signature = new String(bytes, StandardCharsets.ISO_8859_1).lastIndexOf("v=") + 2;
      bytes[signature] = (byte) (bytes[signature] == 'A' ? 'B' : 'A'); // base64
      send(client, attached, attached.capacity());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
