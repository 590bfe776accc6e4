package dev.kakehashi.rest.monitor;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Routes of health, metrics and the OpenAPI document. None of them waits for anything.
public final class MonitorRoutes {
  /// Role whose members may read the metrics.
  private static final String MONITOR_ROLE = "pg_monitor";

  private static final byte[] LIVE = "{\"status\":\"live\"}".getBytes(StandardCharsets.UTF_8);
  private static final byte[] READY = "{\"status\":\"ready\"}".getBytes(StandardCharsets.UTF_8);

  private final Users users;
  private final Readiness readiness;
  private final List<Metrics> metrics;
  private final boolean opensMetrics;
  private final OpenApiDocument document;

  /// @param opensMetrics whether everybody may read the metrics
  public MonitorRoutes(
      Users users,
      Readiness readiness,
      List<Metrics> metrics,
      boolean opensMetrics,
      OpenApiDocument document) {
    this.users = users;
    this.readiness = readiness;
    this.metrics = List.copyOf(metrics);
    this.opensMetrics = opensMetrics;
    this.document = document;
  }

  public List<Route> routes() {
    Route.Builder page = Route.get("/metrics");
    return List.of(
        Route.get("/health/live")
            .anonymous()
            .handleDirectly(
                (exchange, body) -> exchange.answer().send(200, ContentType.JSON, LIVE)),
        Route.get("/health/ready").anonymous().handleDirectly((exchange, body) -> ready(exchange)),
        (opensMetrics ? page.anonymous() : page).handle(this::metrics),
        Route.get("/v1/openapi.json").handle(this::openApi));
  }

  private void ready(Exchange exchange) {
    String obstacle = readiness.obstacle();
    if (!obstacle.isEmpty()) {
      throw Problem.of(503, "not-ready", "Not ready", obstacle)
          .withRetryable(true)
          .withHeader("Retry-After", "1");
    }
    exchange.answer().header("Cache-Control", "no-store").send(200, ContentType.JSON, READY);
  }

  private void metrics(Exchange exchange) {
    if (!opensMetrics && !users.isMemberOf(exchange.request().user(), MONITOR_ROLE)) {
      throw Problem.of(
              403,
              "insufficient-privilege",
              "Insufficient privilege",
              "metrics are for members of " + MONITOR_ROLE)
          .withSqlstate(ErrorCode.INSUFFICIENT_PRIVILEGE);
    }
    MetricsWriter writer = new MetricsWriter();
    metrics.forEach(source -> source.write(writer));
    exchange
        .answer()
        .header("Cache-Control", "no-store")
        .send(200, ContentType.OPENMETRICS, writer.finish());
  }

  private void openApi(Exchange exchange) {
    exchange.answer().header("ETag", document.etag());
    if (document.etag().equals(exchange.request().header("If-None-Match"))) {
      exchange.answer().send(304);
    } else {
      exchange.answer().send(200, ContentType.JSON, document.bytes());
    }
  }
}
