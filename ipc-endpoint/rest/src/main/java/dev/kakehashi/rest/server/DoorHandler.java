package dev.kakehashi.rest.server;

import dev.kakehashi.rest.login.Authentication;
import dev.kakehashi.rest.login.LoginCredentials;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.problem.Problems;
import dev.kakehashi.rest.route.BodyLimits;
import dev.kakehashi.rest.route.ClientWatch;
import dev.kakehashi.rest.route.DirectHandler;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ProblemAnswer;
import dev.kakehashi.rest.route.Routes;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// The way of each request: origin, route, user, limits, handler. On the thread that reads sockets; what blocks goes to a virtual thread.
final class DoorHandler extends Handler.Abstract.NonBlocking {
  private static final HttpField SERVER = new PreEncodedHttpField(HttpHeader.SERVER, "kakehashi");

  /// Nobody guesses another type than the one that is said.
  private static final HttpField NO_SNIFF =
      new PreEncodedHttpField("X-Content-Type-Options", "nosniff");

  private final Routes routes;
  private final Authentication authentication;
  private final Clients clients;
  private final OriginCheck origins;
  private final RequestGate running;
  private final RequestCounters counters;
  private final BodyLimits bodyLimits;
  private final ClientWatch watch = new ClientWatch();

  DoorHandler(
      Routes routes,
      Authentication authentication,
      HttpConfig config,
      RequestGate running,
      RequestCounters counters) {
    this.routes = routes;
    this.authentication = authentication;
    this.clients = new Clients(authentication.users());
    this.origins = new OriginCheck(config);
    this.running = running;
    this.counters = counters;
    HttpLimits limits = config.limits();
    this.bodyLimits =
        new BodyLimits(
            limits.bodyBytesPerSecond(), TimeUnit.MILLISECONDS.toNanos(limits.bodyGraceMillis()));
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    response.getHeaders().add(SERVER);
    response.getHeaders().add(NO_SNIFF);
    Passage passage = new Passage(request, response, callback);
    try {
      running.enter();
    } catch (Problem e) {
      ProblemAnswer.send(response, callback, e);
      return true;
    }
    try {
      origins.check(request);
      route(passage);
    } catch (RuntimeException e) {
      passage.refuse(e);
    }
    return true;
  }

  private void route(Passage passage) {
    Request request = passage.request;
    String path = Objects.requireNonNullElse(request.getHttpURI().getPath(), "");
    switch (routes.match(request.getMethod(), path)) {
      case Routes.Found found -> authenticate(passage, found);
      case Routes.OtherMethods others -> otherMethods(passage, others);
      case Routes.NoPath none -> throw Problem.notFound("there is nothing at this path");
    }
  }

  private static void otherMethods(Passage passage, Routes.OtherMethods others) {
    if (!passage.request.getMethod().equals("OPTIONS")) {
      throw Problem.of(
              405, "method-not-allowed", "Method not allowed", "this path has other methods")
          .withHeader("Allow", others.allow());
    }
    passage.response.setStatus(204);
    passage.response.getHeaders().put(HttpHeader.ALLOW, others.allow());
    passage.response.write(true, null, passage);
  }

  private void authenticate(Passage passage, Routes.Found found) {
    passage.found = found;
    if (found.route().isAnonymous()) {
      start(passage, null);
      return;
    }
    LoginCredentials credentials = clients.credentials(passage.request);
    Users.@Nullable Known known = authentication.find(credentials);
    if (known != null) {
      start(passage, known);
      return;
    }
    // A password's proof takes milliseconds of a processor, on purpose.
    Thread.ofVirtual()
        .name("http-login")
        .start(() -> {
          try {
            start(passage, authentication.prove(credentials));
          } catch (RuntimeException e) {
            passage.refuse(e);
          }
        });
  }

  private void start(Passage passage, Users.@Nullable Known known) {
    Routes.Found found = Objects.requireNonNull(passage.found);
    if (known != null) {
      passage.ofUser = running.enter(known.user().name());
    }
    Exchange exchange =
        new Exchange(passage.request, passage.response, passage, found, known, bodyLimits, watch);
    @Nullable DirectHandler direct = found.route().directHandler();
    if (direct != null) {
      exchange.start(direct);
    } else if (found.route().readsBody()) {
      exchange.read(Objects.requireNonNull(found.route().handler()));
    } else {
      exchange.block(Objects.requireNonNull(found.route().handler()));
    }
  }

  /// One request on its way through the door. It ends with its callback, and leaves the counts before the connection takes the next
  /// request.
  private final class Passage implements Callback {
    private final Request request;
    private final Response response;
    private final Callback callback;
    private final long startNanos = System.nanoTime();
    private Routes.@Nullable Found found;
    private @Nullable AtomicInteger ofUser;

    Passage(Request request, Response response, Callback callback) {
      this.request = request;
      this.response = response;
      this.callback = callback;
    }

    /// Answers with a failure before there was an exchange.
    void refuse(RuntimeException failure) {
      ProblemAnswer.send(response, this, Problems.of(failure));
    }

    private void leave(boolean isWhole) {
      if (ofUser != null) {
        running.leave(ofUser);
      }
      counters.count(
          found == null ? null : found.route(),
          response.getStatus(),
          isWhole,
          System.nanoTime() - startNanos);
      running.leave();
    }

    @Override
    public void succeeded() {
      leave(true);
      callback.succeeded();
    }

    @Override
    public void failed(Throwable failure) {
      leave(false);
      callback.failed(failure);
    }

    @Override
    public InvocationType getInvocationType() {
      return InvocationType.NON_BLOCKING;
    }
  }
}
