package dev.kakehashi.rest.server;

import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.problem.Problems;
import dev.kakehashi.rest.route.ProblemAnswer;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// Answers requests that do not get as far as a route: those that are no HTTP, or too long.
final class DoorErrors implements Request.Handler {
  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    int status = response.getStatus();
    @Nullable Throwable failure = (Throwable) request.getAttribute(ErrorHandler.ERROR_EXCEPTION);
    ProblemAnswer.send(response, callback, problem(status, failure));
    return true;
  }

  private static Problem problem(int status, @Nullable Throwable failure) {
    if (failure instanceof TimeoutException) {
      return close(
          Problem.of(408, "slow-request", "Request too slow", "the request came too slowly"));
    }
    // A connection that fails is nobody's fault here, and what is answered then reaches nobody.
    boolean isTheirs = failure instanceof HttpException || failure instanceof IOException;
    if (failure != null && status >= 500 && !isTheirs) {
      return Problems.internal(failure);
    }
    String reason = failure instanceof HttpException http ? http.getReason() : null;
    String title = HttpStatus.getMessage(status);
    return close(
        Problem.of(
            status,
            status == 431 ? "header-too-large" : "bad-request",
            title,
            reason == null ? title : reason));
  }

  /// Where its next request begins is not sure.
  private static Problem close(Problem problem) {
    return problem.withHeader(HttpHeader.CONNECTION.asString(), "close");
  }
}
