package dev.kakehashi.rest.server;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpParser;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/// Makes connections of HTTP/1.1 whose requests must bring their header within a time: a byte now and then keeps no connection open.
final class Http1Factory extends HttpConnectionFactory {
  private final int headerMillis;

  Http1Factory(HttpConfiguration http, int headerMillis) {
    super(http);
    this.headerMillis = headerMillis;
  }

  @Override
  public Connection newConnection(Connector connector, EndPoint endPoint) {
    return configure(
        new TimedConnection(getHttpConfiguration(), connector, endPoint, headerMillis),
        connector,
        endPoint);
  }

  /// Costs a look at the parser for each time that bytes come; a timer only if they end within a header.
  private static final class TimedConnection extends HttpConnection {
    private static final Set<HttpParser.State> IN_HEADER =
        EnumSet.range(HttpParser.State.METHOD, HttpParser.State.HEADER);

    private final int headerMillis;
    private volatile boolean isUpgraded;
    private Scheduler.@Nullable Task timer;

    TimedConnection(
        HttpConfiguration http, Connector connector, EndPoint endPoint, int headerMillis) {
      super(http, connector, endPoint);
      this.headerMillis = headerMillis;
    }

    @Override
    public @Nullable ByteBuffer onUpgradeFrom() {
      isUpgraded = true;
      return super.onUpgradeFrom();
    }

    @Override
    public void onFillable() {
      super.onFillable();
      // Bytes come to one thread at a time, which is this one until it is interested in more.
      boolean isInHeader = isInHeader();
      Scheduler.Task running = timer;
      if (isInHeader && running == null) {
        timer =
            getConnector()
                .getScheduler()
                .schedule(this::expire, headerMillis, TimeUnit.MILLISECONDS);
      } else if (!isInHeader && running != null) {
        running.cancel();
        timer = null;
      }
    }

    private boolean isInHeader() {
      // An upgrade has given the socket to another connection.
      return !isUpgraded && IN_HEADER.contains(getParser().getState());
    }

    private void expire() {
      if (isInHeader()) {
        getEndPoint().close(new TimeoutException("the header came too slowly"));
      }
    }
  }
}
