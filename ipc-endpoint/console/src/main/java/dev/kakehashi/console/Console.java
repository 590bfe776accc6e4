package dev.kakehashi.console;

import dev.kakehashi.console.access.AuditLog;
import dev.kakehashi.console.access.Doorman;
import dev.kakehashi.console.html.Assets;
import dev.kakehashi.console.page.ConsolePages;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.login.Authentication;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.server.DoorPages;
import dev.kakehashi.rest.sql.SqlService;
import dev.kakehashi.rest.sql.TextQueries;
import java.util.ArrayList;
import java.util.List;

/// The web console below `/console`. A visitor logs in as a user of the engine, and sees and does what his rights allow. Thread-safe.
///
/// It has no thread and no timer: what nobody looks at costs nothing.
public final class Console implements DoorPages {
  private final TextQueries queries;
  private final AuditLog audit;

  /// @param operator who runs the endpoint, in whose name actions are noted
  public Console(SqlService statements, RequestUser operator) {
    this.queries = new TextQueries(statements);
    this.audit = new AuditLog(queries, operator);
  }

  @Override
  public List<Route> routes(Authentication authentication) {
    Doorman doorman = new Doorman(authentication, audit);
    List<Route> routes = new ArrayList<>(doorman.routes());
    routes.add(Assets.route());
    routes.add(
        Route.get("/console")
            .anonymous()
            .handleDirectly((exchange, body) ->
                exchange.answer().header("Location", "/console/overview").send(303)));
    routes.addAll(new ConsolePages(doorman, queries, audit).routes());
    return List.copyOf(routes);
  }
}
