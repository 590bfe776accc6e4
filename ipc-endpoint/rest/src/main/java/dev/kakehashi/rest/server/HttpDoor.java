package dev.kakehashi.rest.server;

import dev.kakehashi.rest.login.Authentication;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.monitor.Metrics;
import dev.kakehashi.rest.monitor.MonitorRoutes;
import dev.kakehashi.rest.monitor.OpenApiDocument;
import dev.kakehashi.rest.route.Routes;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.server.AbstractHTTP2ServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The HTTP door of the endpoint: it listens from its start to its close. Thread-safe.
///
/// Its threads: one selector for each listener, and a few that Jetty needs for timers and rare turns. Handlers that block run on virtual
/// threads.
public final class HttpDoor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpDoor.class);
  private static final int MAX_THREADS = 16;
  private static final int MAX_UNWANTED_READS = 32;

  private final Server server;
  private final Routes routes;
  private final HttpLimits limits;
  private final RequestGate running;
  private final ConnectionGate gate;
  private final RequestCounters counters;
  private boolean isClosed;

  private HttpDoor(HttpConfig config, Routes routes) {
    this.routes = routes;
    QueuedThreadPool threads = new QueuedThreadPool(MAX_THREADS, 1);
    threads.setName("http");
    threads.setDaemon(true);
    threads.setReservedThreads(0);
    this.server = new Server(threads);
    this.limits = config.limits();
    this.running = new RequestGate(limits.requestsOfUser());
    this.gate = new ConnectionGate(limits);
    this.counters = new RequestCounters(routes);
  }

  /// Opens the listeners of a door with all its routes.
  ///
  /// @throws IOException as [#start(HttpConfig, Routes, Authentication)]
  public static HttpDoor start(HttpConfig config, DoorContent content) throws IOException {
    Authentication authentication =
        new Authentication(content.users(), content.loginLimits(), System::nanoTime);
    DoorMetrics metrics = new DoorMetrics(authentication);
    HttpDoor door = start(config, routes(config, content, authentication, metrics), authentication);
    metrics.attach(door);
    return door;
  }

  private static Routes routes(
      HttpConfig config, DoorContent content, Authentication authentication, DoorMetrics own) {
    List<Metrics> metrics = new ArrayList<>(content.metrics());
    metrics.add(own);
    Routes.Builder routes =
        Routes.builder()
            .add(AboutRoute.of(content.version(), config.limits(), content.limits()))
            .addAll(new LoginRoutes(authentication).routes())
            .addAll(
                new MonitorRoutes(
                        content.users(),
                        content.readiness(),
                        metrics,
                        config.opensMetrics(),
                        OpenApiDocument.of(content.applications()))
                    .routes())
            .addAll(content.routes());
    content.applications().forEach(routes::add);
    if (content.pages() != null) {
      routes.addAll(content.pages().routes(authentication));
    }
    if (content.changing() != null) {
      routes.changing(content.changing());
    }
    return routes.build();
  }

  /// Opens the listeners, with limits of logins as they are by default.
  ///
  /// @throws IOException a listener cannot be opened; none is open then
  public static HttpDoor start(HttpConfig config, Routes routes, Users users) throws IOException {
    return start(config, routes, new Authentication(users));
  }

  /// Opens the listeners.
  ///
  /// @throws IOException a listener cannot be opened, or a key cannot be read; none is open then
  public static HttpDoor start(HttpConfig config, Routes routes, Authentication authentication)
      throws IOException {
    HttpDoor door = new HttpDoor(config, routes);
    try {
      for (HttpListener listener : config.listeners()) {
        door.server.addConnector(door.connector(listener));
      }
      door.server.setErrorHandler(new DoorErrors());
      door.server.setHandler(
          new DoorHandler(routes, authentication, config, door.running, door.counters));
      door.server.start();
    } catch (Exception e) {
      door.close();
      throw new IOException("the HTTP door cannot be opened: " + e.getMessage(), e);
    }
    return door;
  }

  private AbstractConnector connector(HttpListener listener) throws IOException {
    HttpConfiguration http = configuration();
    Http1Factory http1 = new Http1Factory(http, limits.headerMillis());
    AbstractConnector connector =
        switch (listener) {
          case HttpListener.UnixSocket unix ->
              new UnixConnector(server, unix, gate, http1, plainHttp2(http));
          case HttpListener.Loopback loopback -> {
            TcpConnector tcp = new TcpConnector(server, gate, () -> {}, http1, plainHttp2(http));
            tcp.setHost("127.0.0.1");
            tcp.setPort(loopback.port());
            yield tcp;
          }
          case HttpListener.Tls tls -> tls(tls, http, http1);
        };
    connector.setIdleTimeout(limits.idleMillis());
    connector.setShutdownIdleTimeout(0);
    return connector;
  }

  private TcpConnector tls(HttpListener.Tls listener, HttpConfiguration http, Http1Factory http1)
      throws IOException {
    TlsIdentity identity = new TlsIdentity(listener);
    HTTP2ServerConnectionFactory http2 = limit(new HTTP2ServerConnectionFactory(http));
    ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
    alpn.setDefaultProtocol(http1.getProtocol());
    SslConnectionFactory ssl = new SslConnectionFactory(identity.context(), alpn.getProtocol());
    TcpConnector tcp = new TcpConnector(server, gate, identity::refresh, ssl, alpn, http2, http1);
    tcp.setHost(listener.host());
    tcp.setPort(listener.port());
    return tcp;
  }

  private HTTP2CServerConnectionFactory plainHttp2(HttpConfiguration http) {
    return limit(new HTTP2CServerConnectionFactory(http));
  }

  private <F extends AbstractHTTP2ServerConnectionFactory> F limit(F factory) {
    factory.setMaxConcurrentStreams(limits.streamsOfConnection());
    factory.setStreamIdleTimeout(limits.idleMillis());
    return factory;
  }

  private HttpConfiguration configuration() {
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendXPoweredBy(false);
    http.setSendDateHeader(true);
    http.setHttpCompliance(HttpCompliance.STRICT);
    http.setUriCompliance(UriCompliance.DEFAULT);
    http.setRequestHeaderSize(limits.headerBytes());
    http.setNotifyRemoteAsyncErrors(true);
    // The rest of a body that nobody wants: more than some buffers of it end the connection.
    http.setMaxUnconsumedRequestContentReads(MAX_UNWANTED_READS);
    return http;
  }

  /// Where a TCP listener is reached, without a path.
  ///
  /// @param listener its place in the configuration
  public URI uri(int listener) {
    ServerConnector connector = (ServerConnector) server.getConnectors()[listener];
    boolean isTls = connector.getConnectionFactory(SslConnectionFactory.class) != null;
    return URI.create(
        (isTls ? "https://" : "http://") + connector.getHost() + ":" + connector.getLocalPort());
  }

  /// Routes that it answers.
  public Routes routes() {
    return routes;
  }

  RequestGate running() {
    return running;
  }

  ConnectionGate gate() {
    return gate;
  }

  RequestCounters counters() {
    return counters;
  }

  /// Takes no more connections and requests, lets those that run end within the limit, and breaks off the rest. Idempotent.
  @Override
  public synchronized void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    try {
      for (Connector connector : server.getConnectors()) {
        // Done when its last connection has ended, which is brought about below.
        CompletableFuture<Void> _ = connector.shutdown();
      }
      if (!running.stop(limits.stopMillis())) {
        LOG.warn("{} HTTP requests are broken off", running.running());
      }
      server.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      LOG.warn("the HTTP door was closed without waiting for its requests");
      stopNow();
    } catch (Exception e) {
      throw new IllegalStateException("the HTTP door does not close", e);
    }
  }

  private void stopNow() {
    try {
      server.stop();
    } catch (Exception e) {
      throw new IllegalStateException("the HTTP door does not close", e);
    }
  }
}
