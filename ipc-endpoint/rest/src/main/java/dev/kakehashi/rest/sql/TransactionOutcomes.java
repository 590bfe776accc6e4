package dev.kakehashi.rest.sql;

import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.Requests;
import dev.kakehashi.rest.job.OutcomeLookup;
import java.util.OptionalLong;

/// Outcomes of the transactions of jobs. Thread-safe.
public record TransactionOutcomes(Requests requests) implements OutcomeLookup {
  @Override
  public Outcome outcome(String owner, String transactionToken) {
    RequestUser user = new RequestUser(owner, false);
    OptionalLong handle = requests.handle(user, transactionToken);
    if (handle.isEmpty()) {
      return Outcome.UNKNOWN;
    }
    try (RequestSession session = requests.open(user, "http", "")) {
      RequestAnswer answer = AnswerFuture.of(done -> session.outcome(handle.getAsLong(), done));
      return switch (answer.state()) {
        case COMMITTED -> Outcome.COMMITTED;
        case ABORTED -> Outcome.ROLLED_BACK;
        default -> Outcome.UNKNOWN;
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Outcome.UNKNOWN;
    }
  }
}
