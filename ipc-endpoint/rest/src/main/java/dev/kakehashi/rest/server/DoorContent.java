package dev.kakehashi.rest.server;

import dev.kakehashi.rest.login.LoginLimits;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.monitor.Metrics;
import dev.kakehashi.rest.monitor.Readiness;
import dev.kakehashi.rest.route.ChangingRoutes;
import dev.kakehashi.rest.route.RestApplication;
import dev.kakehashi.rest.route.Route;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Content behind the door. Immutable.
///
/// @param users whom it knows
/// @param loginLimits of their logins
/// @param routes besides those of the door itself: login, health, metrics, its description
/// @param applications with routes of their own
/// @param changing routes below `/v1/apps` that come and go; null: there are none
/// @param pages routes that log users in by themselves; null: there are none
/// @param metrics besides the door's
/// @param readiness of the endpoint
/// @param version of the endpoint
/// @param limits of the routes, by name, as `/v1` shows them
public record DoorContent(
    Users users,
    LoginLimits loginLimits,
    List<Route> routes,
    List<RestApplication> applications,
    @Nullable ChangingRoutes changing,
    @Nullable DoorPages pages,
    List<Metrics> metrics,
    Readiness readiness,
    String version,
    Map<String, Long> limits) {
  public DoorContent {
    routes = List.copyOf(routes);
    applications = List.copyOf(applications);
    metrics = List.copyOf(metrics);
    limits = Map.copyOf(limits);
  }

  /// Without routes that come and go, and without pages.
  public DoorContent(
      Users users,
      LoginLimits loginLimits,
      List<Route> routes,
      List<RestApplication> applications,
      List<Metrics> metrics,
      Readiness readiness,
      String version,
      Map<String, Long> limits) {
    this(users, loginLimits, routes, applications, null, null, metrics, readiness, version, limits);
  }
}
