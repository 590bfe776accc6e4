package dev.kakehashi.rest.job.http;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.header.FieldException;
import dev.kakehashi.rest.header.FieldValue;
import dev.kakehashi.rest.header.StructuredField;
import dev.kakehashi.rest.job.JobRefusal;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.KeyClaim;
import dev.kakehashi.rest.job.KeyedRequest;
import dev.kakehashi.rest.job.StoredAnswer;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeRequest;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// POST requests under the field `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07). Thread-safe.
///
/// The key is a string of structured fields with 1 to 255 characters. It belongs to the user; the same key with another method, path, body,
/// or field that changes the meaning is 422.
public final class IdempotentPosts {
  /// The field.
  public static final String FIELD = "Idempotency-Key";

  /// Fields that change what a request means, beside its target and body.
  private static final String[] MEANING = {
    "Kakehashi-Transaction", "Accept", "Accept-Encoding", "Content-Type", "Content-Encoding"
  };

  private final Jobs jobs;

  public IdempotentPosts(Jobs jobs) {
    this.jobs = jobs;
  }

  /// Takes effect, and tells so. An exception means that there was no effect, unless it is TRANSACTION_RESOLUTION_UNKNOWN.
  public interface Action {
    StoredAnswer run() throws Exception;
  }

  /// Answers a request whose effect is no job: by the action, or, under a key that has been used, by the answer that was given then.
  /// Blocks.
  ///
  /// @param body of the request
  /// @param repeatable whether the action may run again if it is not known whether it did
  /// @throws Problem 400, 409, 422, 429
  public void answer(Exchange exchange, byte[] body, boolean repeatable, Action action)
      throws Exception {
    KeyedRequest request = request(exchange.request(), body);
    if (request == null) {
      send(exchange, action.run());
      return;
    }
    KeyClaim claim;
    try {
      claim = jobs.claim(exchange.request().user().name(), request, repeatable);
    } catch (JobRefusal e) {
      throw problem(e);
    }
    switch (claim) {
      case KeyClaim.Answered answered -> send(exchange, answered.answer());
      case KeyClaim.First first -> send(exchange, run(first, action));
    }
  }

  private static StoredAnswer run(KeyClaim.First claim, Action action) throws Exception {
    try (claim) {
      StoredAnswer answer = action.run();
      claim.complete(answer);
      return answer;
    } catch (EngineException e) {
      if (e.code() == ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN) {
        claim.leaveUnknown();
      }
      throw e;
    }
  }

  /// Sends an answer as it was given first.
  public static void send(Exchange exchange, StoredAnswer answer) {
    for (StoredAnswer.Header header : answer.headers()) {
      exchange.answer().header(header.name(), header.value());
    }
    if (answer.mediaType().isEmpty()) {
      exchange.answer().send(answer.status());
    } else {
      exchange.answer().send(answer.status(), ContentType.of(answer.mediaType()), answer.body());
    }
  }

  /// The request with its key, for [Jobs#submit]; null: it has none.
  ///
  /// @param body of the request
  /// @throws Problem 400: the field is no key
  public static @Nullable KeyedRequest request(ExchangeRequest request, byte[] body) {
    @Nullable String field = request.header(FIELD);
    if (field == null) {
      return null;
    }
    StringBuilder meaning = new StringBuilder();
    for (String name : MEANING) {
      @Nullable String value = request.header(name);
      meaning.append(name).append('\t').append(value == null ? "" : value).append('\n');
    }
    meaning.append(preferences(request.header("Prefer")));
    return KeyedRequest.of(
        request.user().name(),
        key(field),
        request.method() + " " + request.target(),
        meaning.toString(),
        body);
  }

  /// The problem of what [Jobs#submit] has refused.
  public static Problem problem(JobRefusal refusal) {
    return JobJson.problem(refusal, null);
  }

  /// Preferences without the one that says how long to wait: it changes nothing of the effect.
  private static String preferences(@Nullable String field) {
    if (field == null) {
      return "";
    }
    StringBuilder kept = new StringBuilder();
    for (String part : field.split(",", -1)) {
      String preference = part.strip().toLowerCase(Locale.ROOT);
      if (!preference.startsWith("wait")) {
        kept.append(preference).append(',');
      }
    }
    return kept.toString();
  }

  /// A string of a structured field, without parameters.
  private static String key(String field) {
    try {
      FieldValue.Item item = StructuredField.item(field);
      if (item.value() instanceof FieldValue.Text(String key)
          && item.parameters().isEmpty()
          && !key.isEmpty()
          && key.length() <= KeyedRequest.MAX_KEY_CHARACTERS) {
        return key;
      }
    } catch (FieldException e) {
      throw invalid();
    }
    throw invalid();
  }

  private static Problem invalid() {
    return Problem.of(
            400,
            "bad-idempotency-key",
            "Bad idempotency key",
            FIELD
                + " must be a string of 1 to "
                + KeyedRequest.MAX_KEY_CHARACTERS
                + " characters in double quotes")
        .withHint("For example: " + FIELD + ": \"8e03978e-40d5-43dd-bc93-6894a57f9324\"");
  }
}
