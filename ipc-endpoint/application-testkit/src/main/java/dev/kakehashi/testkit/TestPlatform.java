package dev.kakehashi.testkit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.joran.util.ConfigurationWatchListUtil;
import dev.kakehashi.application.Application;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.EmbeddedEngineFactory;
import dev.kakehashi.server.EndpointServer;
import dev.kakehashi.server.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// An endpoint in this JVM with the real engine, in directories of its own that go with it. Used by one thread at a time; [#attach] is for
/// others.
public final class TestPlatform implements AutoCloseable {
  private static final String USER = "tester";
  private static final String JARS = "application_jars";

  private final Path root;
  private final EndpointServer server;
  private final Session session;
  private final HttpClient http = HttpClient.newHttpClient();
  private final String password = UUID.randomUUID().toString();

  private TestPlatform(Path root, EndpointServer server, Session session) {
    this.root = root;
    this.server = server;
    this.session = session;
    server.addUser(USER, password);
  }

  /// @param settings of the endpoint, keys and values by turns
  public static TestPlatform start(List<String> settings) {
    quieten();
    EndpointServer server = null;
    Session session = null;
    Path root = null;
    try {
      root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
      Files.createDirectory(root.resolve(JARS));
      Settings all =
          Settings.defaults()
              .set("data_directory", root.resolve("data").toString())
              .set("runtime_directory", root.resolve("run").toString())
              .set("bulk_locations", JARS + ":" + root.resolve(JARS) + ":read")
              .set("http_port", "0");
      for (int i = 0; i < settings.size(); i += 2) {
        all.set(settings.get(i), settings.get(i + 1));
      }
      server = EndpointServer.start(all, new EmbeddedEngineFactory());
      session = Session.attach(AttachOptions.of(root.resolve("run")).withUser(USER, ""));
      return new TestPlatform(root, server, session);
    } catch (IOException e) {
      throw new UncheckedIOException("could not make directories in /dev/shm", e);
    } finally {
      if (session == null) {
        end(server, root);
      }
    }
  }

  /// Where a project says nothing of its log, Logback writes all that there is, and a test is lost in it.
  private static void quieten() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context
        && ConfigurationWatchListUtil.getMainWatchURL(context) == null) {
      context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
    }
  }

  private static void end(@Nullable EndpointServer server, @Nullable Path root) {
    if (server != null) {
      server.close();
    }
    if (root != null) {
      try {
        Directories.delete(root);
      } catch (IOException e) {
        throw new UncheckedIOException("could not delete " + root, e);
      }
    }
  }

  /// Deploys an application, or its next version if it is there.
  ///
  /// @param options of CREATE APPLICATION; empty: none
  public void deploy(String name, Class<? extends Application> application, String options) {
    String file = name + "-" + UUID.randomUUID() + ".jar";
    try {
      Files.write(root.resolve(JARS).resolve(file), ApplicationJar.of(application));
    } catch (IOException e) {
      throw new UncheckedIOException("could not write the jar of " + application.getName(), e);
    }
    String schema = name.contains(".") ? name.substring(0, name.indexOf('.')) : "public";
    boolean there =
        !query(
                "SELECT application_name FROM kakehashi_catalog.applications"
                    + " WHERE application_schema = $1 AND application_name = $2",
                String.class,
                schema,
                name.substring(name.indexOf('.') + 1))
            .isEmpty();
    execute(
        (there ? "ALTER" : "CREATE")
            + " APPLICATION "
            + name
            + " FROM '"
            + JARS
            + ":"
            + file
            + "'"
            + (options.isEmpty() ? "" : " WITH (" + options + ")"));
  }

  /// Runs a statement in a transaction of its own.
  ///
  /// @param parameters `$1` and so on
  /// @return rows changed
  public long execute(String sql, @Nullable Object... parameters) {
    try (PreparedStatement statement = session.prepare(sql)) {
      return session.update(statement, statement.parameters().addRow(parameters));
    }
  }

  /// Runs a query.
  ///
  /// @param row a record, whose components are the columns by name (`unitPrice` for `unit_price`), or the class of a single column
  public <R> List<R> query(String sql, Class<R> row, @Nullable Object... parameters) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement, statement.parameters().addRow(parameters))) {
      RecordReader<R> reader = new RecordReader<>(row, rows.columns());
      List<R> all = new ArrayList<>();
      while (rows.next()) {
        all.add(reader.read(rows));
      }
      return all;
    }
  }

  /// Calls a procedure.
  ///
  /// @param row as of [#query]
  public <R> List<R> call(String procedure, Class<R> row, @Nullable Object... arguments) {
    return query("CALL " + procedure + placeholders(arguments.length), row, arguments);
  }

  private static String placeholders(int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(i -> "$" + i)
        .collect(Collectors.joining(", ", "(", ")"));
  }

  /// Sends a request to the endpoint's HTTP door, with the rights of the kit's user.
  ///
  /// @param path as `/v1/apps/shop/orders/7`
  /// @param json body; null: none
  public HttpResponse<String> http(String method, String path, @Nullable String json) {
    String credentials =
        Base64.getEncoder()
            .encodeToString((USER + ":" + password).getBytes(StandardCharsets.UTF_8));
    HttpRequest request =
        HttpRequest.newBuilder(address().resolve(path))
            .timeout(Duration.ofSeconds(60))
            .header("Authorization", "Basic " + credentials)
            .header("Content-Type", "application/json")
            .method(
                method,
                json == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json))
            .build();
    try {
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException("the endpoint did not answer " + method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the endpoint answered", e);
    }
  }

  /// Where the HTTP door is.
  public URI address() {
    return server.httpAddress();
  }

  /// A session of its own, with the rights of the kit's user, unless another one is named.
  public Session attach(String user) {
    return Session.attach(AttachOptions.of(runtimeDirectory()).withUser(user, ""));
  }

  /// Where clients attach.
  public Path runtimeDirectory() {
    return root.resolve("run");
  }

  /// Ends the endpoint and deletes its files.
  @Override
  public void close() {
    http.close();
    try {
      session.close();
    } finally {
      end(server, root);
    }
  }
}
