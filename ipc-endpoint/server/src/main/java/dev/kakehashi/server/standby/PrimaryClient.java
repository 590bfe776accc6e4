package dev.kakehashi.server.standby;

import dev.kakehashi.engine.api.FollowedLog;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks a primary for its log over HTTP. Used by one thread.
public final class PrimaryClient implements AutoCloseable {
  /// The primary answers sooner, also if it has nothing to say.
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /// How long readers may lack what commits of the primary wait for, until it is told how far they are.
  private static final long READERS_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(PrimaryClient.class);

  private final HttpClient http;
  private final Address address;
  private final String authorization;

  /// Where the primary is, and who asks.
  ///
  /// @param primary `http://` or `https://`, host and port
  /// @param name of the standby
  /// @param passwordFile its first line is the password
  /// @param authority certificates in PEM of those who sign the primary's; null: those of the JVM
  public record Address(
      URI primary, String name, String user, Path passwordFile, @Nullable Path authority) {}

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

  /// Asks once for what is behind the position of a log, and gives it that.
  ///
  /// @return whether it had groups
  /// @throws IOException if the primary is not there, refuses, or its answer is cut off
  public boolean follow(FollowedLog log) throws IOException, InterruptedException {
    String query =
        "standby=%s&log=%016x&from=%s&applied=%s"
            .formatted(
                URLEncoder.encode(address.name(), StandardCharsets.UTF_8),
                log.logId(),
                URLEncoder.encode(log.position().toString(), StandardCharsets.UTF_8),
                URLEncoder.encode(log.applied().toString(), StandardCharsets.UTF_8));
    HttpRequest request =
        HttpRequest.newBuilder(address.primary().resolve("/v1/log?" + query))
            .header("Authorization", authorization)
            .timeout(PATIENCE)
            .build();
    HttpResponse<InputStream> answer =
        http.send(request, HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = answer.body()) {
      if (answer.statusCode() != 200) {
        throw new IOException(
            "the primary answers with %d: %s"
                .formatted(
                    answer.statusCode(),
                    new String(body.readAllBytes(), StandardCharsets.UTF_8).strip()));
      }
      boolean hasGroups = log.receive(body);
      if (hasGroups && log.waitsForReaders() && !log.awaitApplied(READERS_NANOS)) {
        LOG.debug("readers are behind: the primary is told so");
      }
      return hasGroups;
    }
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

  /// Where the primary is, for people.
  public String name() {
    return address.primary().toString();
  }

  @Override
  public void close() {
    http.shutdownNow();
    http.close();
  }
}
