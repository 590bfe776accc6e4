package dev.kakehashi.server.standby;

import dev.kakehashi.engine.api.FollowedLog;
import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.LogPosition;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks a primary for its log over HTTP. Used by one thread, except [#close].
public final class PrimaryClient implements AutoCloseable {
  /// The primary says something sooner, also if it has nothing to say.
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /// Until a backup begins to come: the primary writes its image first.
  private static final Duration BACKUP_PATIENCE = Duration.ofMinutes(5);

  private static final Logger LOG = LoggerFactory.getLogger(PrimaryClient.class);

  private final HttpClient http;
  private final Address address;
  private final String authorization;

  /// The newest stream's. Written by the thread that opens it, before it looks at `closed`.
  private volatile @Nullable Socket socket;

  private volatile boolean closed;

  /// Where the primary is, and who asks.
  ///
  /// @param primary `http://` or `https://`, host and port
  /// @param name of the standby
  /// @param machine which one of that name, see [StandbyMachine]
  /// @param passwordFile its first line is the password
  /// @param authority certificates in PEM of those who sign the primary's; null: those of the JVM
  public record Address(
      URI primary,
      String name,
      String machine,
      String user,
      Path passwordFile,
      @Nullable Path authority) {}

  /// @throws IOException if a file cannot be read
  public PrimaryClient(Address address) throws IOException {
    this.address = address;
    String password = Files.readAllLines(address.passwordFile()).stream().findFirst().orElse("");
    this.authorization =
        "Basic "
            + Base64.getEncoder()
                .encodeToString((address.user() + ":" + password).getBytes(StandardCharsets.UTF_8));
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5));
    Path authority = address.authority();
    if (authority != null) {
      builder.sslContext(context(authority));
    }
    this.http = builder.build();
  }

  private static SSLContext context(Path authority) throws IOException {
    try (InputStream in = Files.newInputStream(authority)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int count = 0;
      for (Certificate certificate :
          CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("authority" + count++, certificate);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, factory.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("could not use \"" + authority + "\": " + e.getMessage(), e);
    }
  }

  /// Asks for what is behind the position of a log.
  ///
  /// @throws IOException if the primary is not there, or refuses
  PrimaryStream open(FollowedLog log) throws IOException {
    return open(log.logId(), log.position(), log.applied(), log.last());
  }

  /// Asks whether the primary has its log from a position on. It is kept for this standby from then on.
  ///
  /// @throws IOException if it has not, or cannot be asked
  public void requireLog(long logId, LogPosition from) throws IOException {
    open(logId, from, from, null).close();
  }

  private PrimaryStream open(
      long logId, LogPosition from, LogPosition applied, @Nullable LogFrame last)
      throws IOException {
    String query =
        "standby=%s&machine=%s&log=%016x&from=%s&applied=%s"
            .formatted(
                URLEncoder.encode(address.name(), StandardCharsets.UTF_8),
                address.machine(),
                logId,
                URLEncoder.encode(from.toString(), StandardCharsets.UTF_8),
                URLEncoder.encode(applied.toString(), StandardCharsets.UTF_8));
    if (last != null) {
      query +=
          "&last=%s&checksum=%08x"
              .formatted(
                  URLEncoder.encode(last.at().toString(), StandardCharsets.UTF_8), last.checksum());
    }
    return PrimaryStream.open(
        address.primary().resolve("/v1/log?" + query),
        authorization,
        http.sslContext(),
        PATIENCE,
        this::begun);
  }

  /// Copies everything that a new standby begins with. The log is kept for it there from then on.
  ///
  /// @param into an empty directory; after a failure its content is of no use
  /// @throws IOException if the primary is not there, refuses, or the answer is cut off or damaged
  public BaseBackup.Received backup(Path into) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(
                address
                    .primary()
                    .resolve(
                        "/v1/log/backup?standby="
                            + URLEncoder.encode(address.name(), StandardCharsets.UTF_8)))
            .header("Authorization", authorization)
            .timeout(BACKUP_PATIENCE)
            .build();
    HttpResponse<InputStream> answer =
        http.send(request, HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = new WatchedInput(answer.body(), PATIENCE)) {
      if (answer.statusCode() != 200) {
        throw refused(answer, body);
      }
      return BaseBackup.receive(body, into);
    }
  }

  private static IOException refused(HttpResponse<?> answer, InputStream body) throws IOException {
    return refused(answer.statusCode(), new String(body.readAllBytes(), StandardCharsets.UTF_8));
  }

  /// A refusal of the primary.
  ///
  /// @param body of its answer
  static IOException refused(int status, String body) {
    return new IOException("the primary answers with %d: %s".formatted(status, body.strip()));
  }

  /// Asks for the timelines of the log there.
  ///
  /// @throws IOException if nobody answers, or it is refused
  public String timelines() throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(address.primary().resolve("/v1/log/timelines"))
            .header("Authorization", authorization)
            .timeout(PATIENCE)
            .build();
    HttpResponse<String> answer =
        http.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    if (answer.statusCode() != 200) {
      throw new IOException(
          "it answers with %d: %s".formatted(answer.statusCode(), answer.body().strip()));
    }
    return answer.body();
  }

  private void begun(Socket opened) {
    socket = opened;
    if (closed) {
      // close() may have looked before.
      closeSocket();
    }
  }

  private void closeSocket() {
    Socket opened = socket;
    if (opened != null) {
      try {
        opened.close();
      } catch (IOException e) {
        LOG.debug("a connection to the primary could not be closed", e);
      }
    }
  }

  /// Where the primary is, for people.
  public String name() {
    return address.primary().toString();
  }

  /// Ends what is under way, from any thread.
  @Override
  public void close() {
    closed = true;
    closeSocket();
    http.shutdownNow();
    http.close();
  }
}
