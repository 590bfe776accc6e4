package dev.kakehashi.rest.application;

import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.rest.route.ChangingRoutes;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.route.Routes;
import dev.kakehashi.rest.sql.SqlRoutes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Routes of deployed applications: `/v1/apps/shop/orders/{id}`, of another schema than public `/v1/apps/schema.shop/…`. Thread-safe.
///
/// They are those that are committed when a request comes. Each is a CALL, as the user who asks; the engine looks whether he may.
public final class RouteTable implements ChangingRoutes {
  private static final Logger LOG = LoggerFactory.getLogger(RouteTable.class);
  private static final String ROOT = "/v1/apps/";
  private static final String DEFAULT_SCHEMA = "public";
  private static final Set<String> WITHOUT_BODY = Set.of("GET", "DELETE");

  private final Supplier<List<ApplicationDefinition>> applications;
  private final SqlRoutes statements;
  private volatile @Nullable Made made;

  /// @param routes of these applications
  private record Made(List<ApplicationDefinition> applications, Routes routes) {}

  /// @param applications those that are committed; asked for each request, must not block
  public RouteTable(Supplier<List<ApplicationDefinition>> applications, SqlRoutes statements) {
    this.applications = applications;
    this.statements = statements;
  }

  @Override
  public Routes now() {
    List<ApplicationDefinition> committed = applications.get();
    Made known = made;
    if (known == null || !known.applications.equals(committed)) {
      known = new Made(committed, make(committed));
      made = known;
    }
    return known.routes;
  }

  private Routes make(List<ApplicationDefinition> committed) {
    Routes.Builder routes = Routes.builder();
    for (ApplicationDefinition application : committed) {
      for (RouteSignature route : application.version().contents().routes()) {
        try {
          routes.add(route(application, route));
        } catch (IllegalArgumentException e) {
          // A name of an application may have what no path has.
          LOG.warn(
              "route {} {} of application {} has no address: {}",
              route.method(),
              route.path(),
              application.name(),
              e.getMessage());
        }
      }
    }
    return routes.build();
  }

  private Route route(ApplicationDefinition application, RouteSignature signature) {
    String name =
        application.schema().equals(DEFAULT_SCHEMA)
            ? application.name()
            : application.schema() + "." + application.name();
    String path = signature.path().equals("/") ? "" : signature.path();
    Route.Builder route = Route.of(signature.method(), ROOT + name + path);
    for (Field field : signature.procedure().parameters()) {
      Set<String> names = new TreeSet<>(RouteArguments.spellings(field.name()));
      names.remove("");
      route.parameters(names.toArray(String[]::new));
    }
    if (!WITHOUT_BODY.contains(signature.method())) {
      route.accepts("application/json");
    }
    RouteCall call = new RouteCall(application, signature, statements);
    return route.handleDirectly(call::answer);
  }

  /// Paths of the routes of now, for displays.
  public List<String> paths() {
    List<String> paths = new ArrayList<>();
    now().all().forEach(route -> paths.add(route.method() + " " + route.path().plain()));
    return paths;
  }
}
