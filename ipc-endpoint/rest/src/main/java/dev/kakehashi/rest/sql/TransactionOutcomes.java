package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.Requests;
import dev.kakehashi.rest.job.OutcomeLookup;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Outcomes of the transactions and loads of jobs, as the engine has them. Thread-safe.
public record TransactionOutcomes(SqlService service) implements OutcomeLookup {
  private static final Logger LOG = LoggerFactory.getLogger(TransactionOutcomes.class);

  private static final String LOAD =
      "select coalesce(sum(loaded) filter (where part >= 0), 0),"
          + " count(*) filter (where part = -1 and done)"
          + " from kakehashi_bulk.load_parts where load_id = $1";

  private static final TextQueries.Limits LIMITS =
      new TextQueries.Limits(1, 100, 1000, TimeUnit.SECONDS.toNanos(30));

  @Override
  public Outcome outcome(String owner, String transactionToken) {
    Requests requests = service.requests();
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

  /// The batches of a load have written how far it is, each in its own transaction.
  @Override
  public @Nullable Load load(String owner, String name) {
    RequestUser user = new RequestUser(owner, false);
    try {
      TextResult found =
          new TextQueries(service).run(user, LOAD, List.of(name), LIMITS, cancel -> {});
      String[] row = found.rows().getFirst();
      return new Load(Long.parseLong(row[0]), !row[1].equals("0"));
    } catch (EngineException e) {
      if (e.code() == ErrorCode.UNDEFINED_TABLE || e.code() == ErrorCode.UNDEFINED_SCHEMA) {
        return new Load(0, false); // no load has had a name yet
      }
      LOG.warn("how far a load of user \"{}\" is cannot be told", owner, e);
      return null;
    }
  }
}
