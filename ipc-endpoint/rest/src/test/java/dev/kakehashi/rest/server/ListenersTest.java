package dev.kakehashi.rest.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.ExchangeOutput;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.route.Routes;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.TestKeys;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class ListenersTest {
  private static final Routes ROUTES =
      Routes.builder()
          .add(
              Route.get("/v1/who")
                  .handleDirectly((exchange, body) ->
                      exchange
                          .answer()
                          .send(
                              200,
                              ContentType.TEXT,
                              exchange.request().user().name().getBytes(StandardCharsets.UTF_8))))
          .add(
              Route.post("/v1/echo")
                  .accepts("application/json")
                  .anonymous()
                  .handle(exchange ->
                      exchange
                          .answer()
                          .send(200, ContentType.JSON, exchange.request().bodyBytes())))
          .add(
              Route.get("/v1/breaks")
                  .anonymous()
                  .handle(exchange -> {
                    try (ExchangeOutput out = exchange.answer().stream(200, ContentType.TEXT)) {
                      out.write(new byte[100_000]);
                      throw new IOException("broken on purpose");
                    }
                  }))
          .build();

  @TempDir private static Path keyFolder;
  private static TestKeys keys;

  @TempDir private Path folder;

  @BeforeAll
  static void makeKeys() throws Exception {
    keys = new TestKeys(keyFolder);
    keys.make("server", "CN=localhost");
    keys.make("renewed", "CN=renewed");
    keys.make("alice", "CN=alice, OU=users");
    keys.make("nobody", "CN=nobody");
  }

  private static HttpDoor open(HttpListener listener) throws IOException {
    return HttpDoor.start(
        new HttpConfig(List.of(listener), HttpLimits.DEFAULT, Set.of(), false),
        ROUTES,
        new FixedUsers());
  }

  private static HttpListener.UnixSocket unix(Path path) {
    return new HttpListener.UnixSocket(path, PosixFilePermissions.fromString("rw-rw----"));
  }

  private HttpListener.Tls tls(boolean asksForCertificates, boolean requires) throws Exception {
    keys.writeCertificate("server", folder.resolve("server.pem"));
    keys.writeKey("server", folder.resolve("server.key"));
    keys.writeCertificate("authority", folder.resolve("authority.pem"));
    return new HttpListener.Tls(
        "127.0.0.1",
        0,
        folder.resolve("server.pem"),
        folder.resolve("server.key"),
        asksForCertificates ? folder.resolve("authority.pem") : null,
        requires);
  }

  @Test
  void shouldKnowTheOsUserOfAUnixSocket() throws Exception {
    Path path = folder.resolve("http.sock");
    try (HttpDoor door = open(unix(path));
        RawClient client = new RawClient(path)) {
      assertEquals("rw-rw----", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
      RawClient.Answer peer = client.request("GET /v1/who HTTP/1.1\r\n", "").answer();
      RawClient.Answer other =
          client.request("GET /v1/who HTTP/1.1\r\n" + RawClient.ALICE, "").answer();

      assertEquals(System.getProperty("user.name"), peer.text());
      assertEquals("alice", other.text());
      assertEquals(1, door.gate().open());
    }
    assertFalse(Files.exists(path));
  }

  @Test
  void shouldReplaceALeftSocketAndNothingElse() throws Exception {
    Path path = folder.resolve("http.sock");
    try (ServerSocketChannel left = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      left.bind(UnixDomainSocketAddress.of(path));
      assertThrows(IOException.class, () -> open(unix(path)).close());
    }
    open(unix(path)).close();
    Files.writeString(path, "precious");
    assertThrows(IOException.class, () -> open(unix(path)).close());
    assertEquals("precious", Files.readString(path));
  }

  @Test
  void shouldSpeakHttp1AndHttp2OverTls() throws Exception {
    try (HttpDoor door = open(tls(false, false))) {
      for (HttpClient.Version version : HttpClient.Version.values()) {
        if (version == HttpClient.Version.HTTP_1_1 || version == HttpClient.Version.HTTP_2) {
          HttpResponse<String> answer = echo(keys.client(""), door.uri(0), version, "[1]");

          assertEquals(200, answer.statusCode());
          assertEquals("[1]", answer.body());
          assertEquals(version, answer.version());
        }
      }
    }
  }

  @Test
  void shouldBreakStreamsOfHttp2() throws Exception {
    try (HttpDoor door = open(tls(false, false));
        HttpClient client = HttpClient.newBuilder().sslContext(keys.client("")).build()) {
      HttpRequest request = HttpRequest.newBuilder(door.uri(0).resolve("/v1/breaks")).build();

      assertThrows(IOException.class, () -> client.send(request, BodyHandlers.ofByteArray()));
      assertEquals(0, door.running().running());
    }
  }

  @Test
  void shouldRefuseBodiesOfHttp2ThatSayNotWhatTheyAre() throws Exception {
    try (HttpDoor door = open(tls(false, false));
        HttpClient client = HttpClient.newBuilder().sslContext(keys.client("")).build()) {
      HttpRequest request =
          HttpRequest.newBuilder(door.uri(0).resolve("/v1/echo"))
              .POST(BodyPublishers.fromPublisher(BodyPublishers.ofString("[3]")))
              .build();
      HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());

      assertEquals(HttpClient.Version.HTTP_2, answer.version());
      assertEquals(415, answer.statusCode(), answer.body());
    }
  }

  private static HttpResponse<String> echo(
      @Nullable SSLContext context, URI uri, HttpClient.Version version, String body)
      throws IOException, InterruptedException {
    HttpClient.Builder builder = HttpClient.newBuilder().version(version);
    if (context != null) {
      builder.sslContext(context);
    }
    try (HttpClient client = builder.build()) {
      return client.send(
          HttpRequest.newBuilder(uri.resolve("/v1/echo"))
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofString(body))
              .build(),
          BodyHandlers.ofString());
    }
  }

  @Test
  void shouldRefuseOldProtocols() throws Exception {
    TlsIdentity identity = new TlsIdentity(tls(false, false));
    identity.context().start();
    try {
      assertEquals(
          Set.of("TLSv1.2", "TLSv1.3"),
          Set.of(identity.context().newSSLEngine().getEnabledProtocols()));
    } finally {
      identity.context().stop();
    }
  }

  @Test
  void shouldKnowTheUserOfAClientsCertificate() throws Exception {
    try (HttpDoor door = open(tls(true, false))) {
      assertEquals("alice", who(keys.client("alice"), door.uri(0)).text());
      assertEquals(401, who(keys.client("nobody"), door.uri(0)).status());
      assertEquals(401, who(keys.client(""), door.uri(0)).status());
    }
  }

  @Test
  void shouldTurnAwayClientsWithoutTheCertificateThatIsRequired() throws Exception {
    try (HttpDoor door = open(tls(true, true))) {
      assertEquals("alice", who(keys.client("alice"), door.uri(0)).text());
      assertThrows(IOException.class, () -> who(keys.client(""), door.uri(0)));
    }
  }

  private static RawClient.Answer who(SSLContext context, URI uri) throws IOException {
    try (RawClient client =
        new RawClient(context.getSocketFactory().createSocket(uri.getHost(), uri.getPort()))) {
      return client.request("GET /v1/who HTTP/1.1\r\n", "").answer();
    }
  }

  @Test
  void shouldTakeOverChangedKeysAndKeepTheOldOnesWhileTheyAreBroken() throws Exception {
    HttpListener.Tls listener = tls(false, false);
    try (HttpDoor door = open(listener)) {
      assertEquals("CN=localhost", subject(door.uri(0)));

      Files.writeString(listener.key(), "broken");
      touch(listener.key(), 1);
      long changed = System.nanoTime();
      Await.until(
          "the next look at the files is due",
          () -> System.nanoTime() - changed > TlsIdentity.LOOK_NANOS);
      assertEquals("CN=localhost", subject(door.uri(0)));

      keys.writeCertificate("renewed", listener.certificate());
      keys.writeKey("renewed", listener.key());
      touch(listener.key(), 2);
      Await.until("the new certificate is used", () -> subject(door.uri(0)).equals("CN=renewed"));
    }
  }

  private static void touch(Path file, int seconds) throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().plus(Duration.ofSeconds(seconds))));
  }

  private static String subject(URI uri) {
    try (SSLSocket socket =
        (SSLSocket) keys.client("").getSocketFactory().createSocket(uri.getHost(), uri.getPort())) {
      socket.startHandshake();
      X509Certificate certificate = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      return certificate.getSubjectX500Principal().getName();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldRefuseKeysThatAreNone() throws Exception {
    HttpListener.Tls listener = tls(false, false);
    Files.writeString(listener.key(), "-----BEGIN RSA PRIVATE KEY-----\n");

    assertThrows(IOException.class, () -> open(listener).close());
  }

  @Test
  void shouldSpeakHttp2InPlain() throws Exception {
    try (HttpDoor door = open(new HttpListener.Loopback(0))) {
      HttpResponse<String> upgraded = echo(null, door.uri(0), HttpClient.Version.HTTP_2, "[2]");
      assertEquals("[2]", upgraded.body());

      try (RawClient client = new RawClient(door.uri(0))) {
        client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        client.send(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
        client.send(headersOfGet("/nothing", "localhost"));

        assertEquals(0x8D, firstHeaderByte(client) & 0xFF, ":status 404 of HPACK's static table");
      }
    }
  }

  /// A frame HEADERS of stream 1, which ends the request.
  private static byte[] headersOfGet(String path, String authority) {
    byte[] block = new byte[2 + 2 + path.length() + 2 + authority.length()];
    block[0] = (byte) 0x82;
    block[1] = (byte) 0x86;
    block[2] = 0x04;
    block[3] = (byte) path.length();
    System.arraycopy(path.getBytes(StandardCharsets.US_ASCII), 0, block, 4, path.length());
    int at = 4 + path.length();
    block[at] = 0x01;
    block[at + 1] = (byte) authority.length();
    System.arraycopy(
        authority.getBytes(StandardCharsets.US_ASCII), 0, block, at + 2, authority.length());
    byte[] frame = new byte[9 + block.length];
    frame[2] = (byte) block.length;
    frame[3] = 1;
    frame[4] = 0x05;
    frame[8] = 1;
    System.arraycopy(block, 0, frame, 9, block.length);
    return frame;
  }

  private static byte firstHeaderByte(RawClient client) throws IOException {
    DataInputStream in = new DataInputStream(client.input());
    while (true) {
      int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
      int type = in.readUnsignedByte();
      in.skipNBytes(5);
      byte[] payload = in.readNBytes(length);
      if (type == 1) {
        // The encoder may begin with a change of its table's size.
        int at = 0;
        while ((payload[at] & 0xE0) == 0x20) {
          at += (payload[at] & 0x1F) == 0x1F ? 3 : 1;
        }
        return payload[at];
      }
      assertTrue(type != 7 && type != 3, "GOAWAY or RST_STREAM");
    }
  }

  @Test
  void shouldOpenNothingWithoutListeners() throws Exception {
    try (HttpDoor door =
        HttpDoor.start(
            new HttpConfig(List.of(), HttpLimits.DEFAULT, Set.of(), false),
            ROUTES,
            new FixedUsers())) {
      assertEquals(0, door.gate().open());
      assertThrows(ArrayIndexOutOfBoundsException.class, () -> door.uri(0));
    }
  }

  @Test
  void shouldCloseTwiceWithoutHarm() throws Exception {
    HttpDoor door = open(new HttpListener.Loopback(0));
    long start = System.nanoTime();
    door.close();
    door.close();

    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(5));
  }
}
