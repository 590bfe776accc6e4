package dev.kakehashi.console.page;

import dev.kakehashi.console.access.AuditLog;
import dev.kakehashi.console.access.Cookies;
import dev.kakehashi.console.access.Doorman;
import dev.kakehashi.console.access.Visitor;
import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.sql.TextQueries;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// All pages, and the way of a request to them and back. Thread-safe.
public final class ConsolePages {
  private static final String FORM = "application/x-www-form-urlencoded";

  /// A long statement, three bytes each character, with its other fields.
  private static final long MAX_FORM = 4L << 20;

  /// Pages that are being made at once, of all visitors.
  private static final int MAX_REQUESTS = 64;

  /// Parameter of an address: the live part alone is wanted.
  private static final String LIVE = "live";

  private static final int SERVER_ERROR = 500;

  private final Doorman doorman;
  private final TextQueries queries;
  private final AuditLog audit;
  private final SqlPage sqlPage;
  private final List<ConsolePage> pages;
  private final List<Frame.Entry> menu;
  private final Semaphore running = new Semaphore(MAX_REQUESTS);

  public ConsolePages(Doorman doorman, TextQueries queries, AuditLog audit) {
    this.doorman = doorman;
    this.queries = queries;
    this.audit = audit;
    this.sqlPage = new SqlPage(queries, audit);
    this.pages =
        List.of(
            new OverviewPage(),
            new StatementsPage(),
            new TransactionsPage(),
            new QueuesPage(),
            new QueuePage(),
            new TaskPage(),
            new DeadLettersPage(),
            new ApplicationsPage(),
            new StoragePage(),
            sqlPage,
            new AuditPage(audit));
    this.menu = pages.stream().filter(ConsolePage::isInMenu).map(ConsolePage::entry).toList();
  }

  public List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    for (ConsolePage page : pages) {
      Set<String> parameters = new HashSet<>(page.parameters());
      parameters.add(LIVE);
      routes.add(
          Route.get(page.entry().path())
              .parameters(parameters.toArray(new String[0]))
              .anonymous()
              .handle(exchange -> bounded(exchange, visitor -> show(exchange, visitor, page))));
      for (PageAction action : page.actions()) {
        routes.add(
            Route.post(action.path())
                .accepts(FORM)
                .maxBody(MAX_FORM)
                .anonymous()
                .handle(exchange ->
                    bounded(exchange, visitor -> act(exchange, visitor, page, action))));
      }
    }
    routes.add(
        Route.post(sqlPage.entry().path())
            .accepts(FORM)
            .maxBody(MAX_FORM)
            .anonymous()
            .handle(exchange -> bounded(exchange, visitor -> runSql(exchange, visitor))));
    return routes;
  }

  private interface Answer {
    void to(Visitor visitor) throws IOException;
  }

  private void bounded(Exchange exchange, Answer answer) throws IOException {
    @Nullable Visitor visitor = doorman.visitor(exchange);
    if (visitor == null) {
      if (exchange.request().method().equals("GET") && isLive(exchange)) {
        Doorman.send(
            exchange,
            401,
            Html.of(
                "<p class=\"failure\" role=\"alert\">The login has ended. <a href=\"/console/login\">Log in</a></p>"));
        return;
      }
      Doorman.guarded(exchange).header("Location", "/console/login").send(303);
      return;
    }
    if (!running.tryAcquire()) {
      throw Problem.of(503, "busy", "Busy", "too many pages of the console are being made")
          .withRetryable(true)
          .withHeader("Retry-After", "1");
    }
    try {
      answer.to(visitor);
    } finally {
      running.release();
    }
  }

  private static boolean isLive(Exchange exchange) {
    return "true".equals(exchange.request().parameter(LIVE));
  }

  private PageView view(Exchange exchange, Visitor visitor, Map<String, String> parameters) {
    AtomicReference<@Nullable Runnable> cancel = new AtomicReference<>();
    exchange.watch(() -> {
      Runnable now = cancel.get();
      if (now != null) {
        now.run();
      }
    });
    return new PageView(visitor, queries, parameters, cancel::set);
  }

  private void show(Exchange exchange, Visitor visitor, ConsolePage page) {
    Map<String, String> parameters = new HashMap<>();
    for (String name : page.parameters()) {
      @Nullable String value = exchange.request().parameter(name);
      if (value != null) {
        parameters.put(name, value);
      }
    }
    PageView view = view(exchange, visitor, parameters);
    Html body;
    int status = 200;
    try {
      Html live = page.live(view);
      if (isLive(exchange)) {
        Doorman.send(exchange, status, live);
        return;
      }
      body = framed(exchange, page, live).add("{}", page.still(view));
    } catch (EngineException | Problem e) {
      Problem problem = e instanceof Problem known ? known : Problem.of((EngineException) e);
      status = problem.status();
      body = failure(problem);
    }
    send(exchange, status, visitor, page, view, body);
  }

  /// The live part in what fetches it again.
  private static Html framed(Exchange exchange, ConsolePage page, Html live) {
    if (page.refreshSeconds() == 0) {
      return live;
    }
    String target = exchange.request().target();
    return Html.of(
        "<div id=\"live\" hx-get=\"{}\" hx-trigger=\"every {}s\" hx-swap=\"innerMorph\">\n{}</div>\n",
        target + (target.indexOf('?') < 0 ? "?" : "&") + LIVE + "=true",
        page.refreshSeconds(),
        live);
  }

  private void send(
      Exchange exchange, int status, Visitor visitor, ConsolePage page, PageView view, Html body) {
    Doorman.send(
        exchange,
        status,
        Frame.page(
            menu,
            page.menuPath(),
            page.entry().title(),
            visitor.user().name(),
            view.csrf(),
            Cookies.takeNotice(exchange),
            body,
            view.foot()));
  }

  static Html failure(Problem problem) {
    Html text = Html.of("<div class=\"failure\" role=\"alert\"><p>{}</p>", problem.detail());
    if (problem.status() >= SERVER_ERROR) {
      text.add("<p>The endpoint's log may have more.</p>");
    }
    return text.add("</div>\n");
  }

  private void act(Exchange exchange, Visitor visitor, ConsolePage page, PageAction action)
      throws IOException {
    Set<String> fields = new HashSet<>(action.fields());
    fields.add("csrf");
    PageView view = view(exchange, visitor, Map.of());
    try {
      Map<String, String> form = exchange.request().form(fields);
      Doorman.check(visitor, form);
      PageAction.Outcome outcome = action.act().act(new ActionView(visitor, queries, audit, form));
      Cookies.notice(exchange, outcome.notice());
      Doorman.guarded(exchange).header("Location", outcome.target()).send(303);
    } catch (EngineException | Problem e) {
      Problem problem = e instanceof Problem known ? known : Problem.of((EngineException) e);
      send(
          exchange,
          problem.status(),
          visitor,
          page,
          view,
          failure(problem).add("<p><a href=\"{}\">Back to the page</a></p>", page.menuPath()));
    }
  }

  private void runSql(Exchange exchange, Visitor visitor) throws IOException {
    PageView view = view(exchange, visitor, Map.of());
    Html body;
    int status = 200;
    try {
      Map<String, String> form = exchange.request().form(SqlPage.FIELDS);
      Doorman.check(visitor, form);
      body = sqlPage.run(view, form);
    } catch (Problem problem) {
      status = problem.status();
      body = failure(problem);
    }
    send(exchange, status, visitor, sqlPage, view, body);
  }
}
