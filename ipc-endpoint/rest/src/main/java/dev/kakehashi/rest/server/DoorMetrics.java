package dev.kakehashi.rest.server;

import dev.kakehashi.rest.login.Authentication;
import dev.kakehashi.rest.monitor.Metrics;
import dev.kakehashi.rest.monitor.MetricsWriter;
import dev.kakehashi.rest.route.Route;
import org.jspecify.annotations.Nullable;

/// Counts of the door, as metrics. Labels are routes and classes of status alone.
final class DoorMetrics implements Metrics {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Authentication authentication;

  /// Null until the door has its routes: it answers nobody before.
  private volatile @Nullable HttpDoor door;

  DoorMetrics(Authentication authentication) {
    this.authentication = authentication;
  }

  void attach(HttpDoor opened) {
    this.door = opened;
  }

  @Override
  public void write(MetricsWriter writer) {
    HttpDoor attached = door;
    if (attached == null) {
      return;
    }
    ConnectionGate gate = attached.gate();
    writer.gauge("kakehashi_http_connections", "Open connections.").sample(gate.open());
    writer
        .counter("kakehashi_http_connections_accepted", "Connections that were let in.")
        .sample(gate.accepted());
    writer
        .counter("kakehashi_http_connections_refused", "Connections that were too many.")
        .sample(gate.refused());
    writer
        .gauge("kakehashi_http_requests_running", "Requests that are being handled.")
        .sample(attached.running().running());
    writer
        .counter("kakehashi_http_requests_refused", "Requests of users who had too many.")
        .sample(attached.running().refused());
    writer
        .gauge("kakehashi_http_tokens", "Tokens of logins that were not ended.")
        .sample(authentication.tokens());
    writer
        .counter("kakehashi_http_login_failures", "Passwords that were wrong.")
        .sample(authentication.failures());
    requests(writer, attached.counters());
  }

  private static void requests(MetricsWriter writer, RequestCounters counters) {
    writer.counter("kakehashi_http_requests", "Requests by route and class of status.");
    counters.forEach((route, counter) -> {
      for (int hundreds = 1; hundreds <= 5; hundreds++) {
        long count = counter.ofClass(hundreds);
        if (count > 0) {
          writer.sample(count, "route", name(route), "status", hundreds + "xx");
        }
      }
    });
    writer.counter(
        "kakehashi_http_request_seconds", "Time from a header's end to the answer's, by route.");
    counters.forEach((route, counter) ->
        writer.sample(counter.nanos() / NANOS_PER_SECOND, "route", name(route)));
    writer.counter("kakehashi_http_answers_broken", "Answers that broke off, by route.");
    counters.forEach((route, counter) -> writer.sample(counter.broken(), "route", name(route)));
  }

  private static String name(@Nullable Route route) {
    return route == null ? "none" : route.method() + " " + route.path().plain();
  }
}
