package dev.kakehashi.rest.route;

import dev.kakehashi.rest.problem.Problem;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Sends problems. Stateless.
public final class ProblemAnswer {
  private ProblemAnswer() {}

  /// Sends one as the whole answer; of a HEAD only the header.
  ///
  /// @param callback completed when it is sent
  public static void send(Response response, Callback callback, Problem problem) {
    byte[] body = problem.toJson();
    response.setStatus(problem.status());
    response.getHeaders().put(ContentType.PROBLEM.field());
    response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
    problem.forEachHeader((name, value) -> response.getHeaders().put(name, value));
    boolean isHead = response.getRequest().getMethod().equals("HEAD");
    response.write(true, ByteBuffer.wrap(isHead ? new byte[0] : body), callback);
  }
}
