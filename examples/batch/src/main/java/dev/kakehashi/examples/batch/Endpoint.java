package dev.kakehashi.examples.batch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

/// The endpoint over HTTP. One thread.
///
/// An IOException says that the answer is lost: the request may have taken effect, or not.
final class Endpoint {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int WAIT_SECONDS = 30;
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2 * WAIT_SECONDS);
  private static final int OK = 200;
  private static final int ACCEPTED = 202;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final int FIRST_ERROR = 400;
  private static final int FIRST_OF_SERVER = 500;
  private static final int ANSWERS_OF_A_KEY = 3;

  private final HttpClient client =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
  private final URI uri;
  private final String authorization;

  Endpoint(URI uri, String user, String password) {
    this.uri = uri;
    this.authorization =
        "Basic "
            + Base64.getEncoder()
                .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  /// The endpoint has refused, or what it did has failed.
  static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;
    private final boolean passes;

    private RefusedException(String message, boolean passes) {
      super(message);
      this.passes = passes;
    }

    private static RefusedException of(int status, JsonNode problem) {
      boolean passes =
          problem.path("retryable").asBoolean()
              || status == NOT_FOUND
              || status == CONFLICT
              || status >= FIRST_OF_SERVER;
      return new RefusedException(
          status
              + " "
              + problem.path("sqlstate").asText()
              + " "
              + problem.path("detail").asText(problem.path("title").asText()),
          passes);
    }

    /// Whether the same step may succeed when it begins anew: the transaction is gone, others were in the way.
    boolean passes() {
      return passes;
    }
  }

  static ObjectNode object() {
    return JSON.createObjectNode();
  }

  /// Whether it takes requests.
  boolean isReady() throws InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(uri.resolve("/health/ready")).build();
    try {
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == OK;
    } catch (IOException e) {
      return false;
    }
  }

  /// Begins a transaction.
  ///
  /// @param characteristics as in the field Kakehashi-Transaction, after `begin;`
  /// @param key the same one gives the same transaction, whatever has become of it
  /// @return its handle
  String begin(String characteristics, String key)
      throws IOException, InterruptedException, RefusedException {
    HttpRequest request =
        post("/v1/transactions", "")
            .header("Kakehashi-Transaction", "begin;" + characteristics)
            .header("Idempotency-Key", '"' + key + '"')
            .build();
    return body(sendKeyed(request)).path("handle").asText();
  }

  /// State of a transaction, also after a crash of the endpoint.
  ///
  /// @return active, committed, aborted, prepared or unknown
  String outcome(String transaction) throws IOException, InterruptedException, RefusedException {
    HttpResponse<String> response = send(get("/v1/transactions/" + transaction));
    return response.statusCode() == NOT_FOUND ? "unknown" : body(response).path("state").asText();
  }

  void commit(String transaction) throws IOException, InterruptedException, RefusedException {
    body(send(post("/v1/transactions/" + transaction + "/commit", "").build()));
  }

  /// Ends a transaction if it is open. Nothing of it runs any more afterwards.
  void rollback(String transaction) throws IOException, InterruptedException, RefusedException {
    if (outcome(transaction).equals("active")) {
      body(send(post("/v1/transactions/" + transaction + "/rollback", "").build()));
    }
  }

  /// Runs a short statement in a transaction.
  ///
  /// @return its rows, an array of arrays
  JsonNode rows(String transaction, String sql, String... parameters)
      throws IOException, InterruptedException, RefusedException {
    ObjectNode body = object().put("sql", sql);
    for (String parameter : parameters) {
      body.withArray("parameters").add(parameter);
    }
    return body(send(in(transaction, post("/v1/sql", body.toString())).build())).path("rows");
  }

  /// Runs a load or dump in a transaction as a job. A lost answer is asked for again under the same key, so it runs once.
  ///
  /// @param path `/v1/load` or `/v1/dump`
  /// @return the rows of its result
  JsonNode job(String transaction, String key, String path, ObjectNode body)
      throws IOException, InterruptedException, RefusedException {
    HttpRequest request =
        in(transaction, post(path, body.toString()))
            .header("Idempotency-Key", '"' + key + '"')
            .header("Prefer", "respond-async")
            .build();
    HttpResponse<String> response = sendKeyed(request);
    if (response.statusCode() != ACCEPTED) {
      return body(response).path("rows");
    }
    String location = response.headers().firstValue("Location").orElseThrow();
    System.out.println("batch: job " + location);
    JsonNode job = body(response);
    while (job.path("state").asText().matches("queued|running")) {
      job = body(send(get(location + "?wait=" + WAIT_SECONDS)));
    }
    if (!job.path("state").asText().equals("succeeded")) {
      throw RefusedException.of(
          job.path("state").asText().equals("interrupted") ? CONFLICT : FIRST_ERROR,
          job.path("problem"));
    }
    JsonNode file = job.path("files").path(0);
    if (file.isMissingNode()) {
      // It has taken effect in the transaction, and what it was is lost: the step begins anew.
      throw new RefusedException("the result of job " + location + " is lost", true);
    }
    return body(send(get(file.path("href").asText()))).path("rows");
  }

  private HttpResponse<String> sendKeyed(HttpRequest request)
      throws IOException, InterruptedException {
    for (int i = 1; ; i++) {
      try {
        return send(request);
      } catch (IOException e) {
        if (i == ANSWERS_OF_A_KEY) {
          throw e;
        }
        System.out.println("batch: no answer (" + e + "), asked again under the same key");
      }
    }
  }

  private HttpRequest.Builder post(String path, String body) {
    HttpRequest.Builder request = authorized(HttpRequest.newBuilder(uri.resolve(path)));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    return request.POST(HttpRequest.BodyPublishers.ofString(body));
  }

  private HttpRequest get(String path) {
    return authorized(HttpRequest.newBuilder(uri.resolve(path))).build();
  }

  private static HttpRequest.Builder in(String transaction, HttpRequest.Builder request) {
    return request.header("Kakehashi-Transaction", "continue;handle=\"" + transaction + '"');
  }

  private HttpRequest.Builder authorized(HttpRequest.Builder request) {
    return request.header("Authorization", authorization).timeout(ANSWER_LIMIT);
  }

  private HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
    return client.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private static JsonNode body(HttpResponse<String> response) throws IOException, RefusedException {
    JsonNode body = JSON.readTree(response.body());
    if (response.statusCode() >= FIRST_ERROR) {
      throw RefusedException.of(response.statusCode(), body);
    }
    return body;
  }
}
