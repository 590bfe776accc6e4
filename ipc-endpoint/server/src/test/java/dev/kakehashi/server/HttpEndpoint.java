package dev.kakehashi.server;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.rest.route.Route;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An endpoint in this process with the real engine and an HTTP door at a free port of 127.0.0.1, in directories of its own. One thread.
public final class HttpEndpoint implements AutoCloseable {
  private final Path root;
  private final String[] settings;
  private @Nullable EndpointServer server;

  private HttpEndpoint(Path root, String[] settings) {
    this.root = root;
    this.settings = settings;
  }

  /// @param settings pairs of key and value
  public static HttpEndpoint start(String... settings) throws IOException {
    Path root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    HttpEndpoint endpoint = new HttpEndpoint(root, settings.clone());
    boolean started = false;
    try {
      endpoint.open();
      started = true;
      return endpoint;
    } finally {
      if (!started) {
        Directories.delete(root);
      }
    }
  }

  private void open() {
    Settings all =
        Settings.defaults()
            .set("data_directory", root.resolve("data").toString())
            .set("runtime_directory", root.resolve("run").toString())
            .set("http_port", "0");
    for (int i = 0; i < settings.length; i += 2) {
      all.set(settings[i], settings[i + 1]);
    }
    server = EndpointServer.start(all, new EmbeddedEngineFactory());
  }

  /// Ends the endpoint in order, and starts another one with the same data. It has another port.
  public void restart() {
    server().close();
    server = null;
    open();
  }

  private EndpointServer server() {
    return Objects.requireNonNull(server);
  }

  /// Where the door is.
  public URI uri() {
    return Objects.requireNonNull(server().http()).uri(0);
  }

  /// Routes that the door answers.
  public List<Route> routes() {
    return Objects.requireNonNull(server().http()).routes();
  }

  /// Adds a user, or gives him another password.
  public void user(String name, String password) throws IOException {
    new UserFile(root.resolve("data")).add(name, ScramVerifier.of(password.toCharArray()), true);
  }

  /// Attaches a client of shared memory.
  public Session attach(String user) {
    return Session.attach(AttachOptions.of(root.resolve("run")).withUser(user, ""));
  }

  public Path dataDirectory() {
    return root.resolve("data");
  }

  @Override
  public void close() throws IOException {
    EndpointServer running = server;
    if (running != null) {
      running.close();
    }
    Directories.delete(root);
  }
}
