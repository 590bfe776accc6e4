package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition.Group;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.type.queue.QueueAccess;
import dev.kakehashi.engine.type.queue.ReceiveArguments;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The queues as one execution of a statement uses them: names are those of its catalogue, rights those of its role, changes belong to its
/// transaction. Thread-safe: a statement runs in several tasks.
final class QueueCalls implements QueueAccess {
  /// Payloads that one call gets at most, but for the first.
  private static final long MAX_RECEIVED_BYTES = 64L << 20;

  private static final Logger LOG = LoggerFactory.getLogger(QueueCalls.class);

  private final Store store;
  private final @Nullable StoreTransaction transaction;
  private final CatalogSnapshot catalog;
  private final Permissions permissions;

  /// Queue that was found last: a statement enqueues thousands of tasks to one queue.
  private volatile @Nullable Found last;

  private record Found(String name, Privilege privilege, long queueId) {}

  /// @param transaction null: it is used for calls that change nothing
  QueueCalls(
      Store store, @Nullable StoreTransaction transaction, CatalogSnapshot catalog, long role) {
    this.store = store;
    this.transaction = transaction;
    this.catalog = catalog;
    this.permissions = new Permissions(catalog, role);
  }

  private QueueSystem system() {
    return system(store);
  }

  /// @throws EngineException FEATURE_NOT_SUPPORTED if the store has no queues
  static QueueSystem system(Store store) {
    QueueSystem queues = store.queues();
    if (queues == null) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "this engine was opened without queues");
    }
    return queues;
  }

  // ---- names and rights ----

  private long queueId(String name, Privilege privilege) {
    Found found = last;
    if (found != null && found.name.equals(name) && found.privilege == privilege) {
      return found.queueId;
    }
    long id = queue(name, privilege).queueId();
    last = new Found(name, privilege, id);
    return id;
  }

  private Queue queue(String text, Privilege privilege) {
    TokenReader in = new TokenReader(text, Lexer.tokenize(text), 0);
    QualifiedName name = in.name();
    in.expectEnd();
    String schema = Objects.requireNonNullElse(name.schema(), CatalogSnapshot.DEFAULT_SCHEMA);
    if (name.schema() != null && catalog.hasSchema(schema)) {
      permissions.requireOnSchema(schema, Privilege.USAGE);
    }
    Queue queue = catalog.queue(schema, name.name());
    if (queue == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "queue \"" + text + "\" does not exist");
    }
    require(queue, privilege);
    return queue;
  }

  private void require(Queue queue, Privilege privilege) {
    if ((permissions.on(ObjectKind.QUEUE, queue.rights()) & privilege.bit()) == 0) {
      throw Permissions.denied("queue", queue.name());
    }
  }

  /// A token whose queue the user may work on.
  private LeaseToken token(String text) {
    LeaseToken token = LeaseToken.of(text);
    Long queueId = system().queueOf(token);
    Queue queue = queueId == null ? null : catalog.queue(queueId);
    if (queue == null) {
      throw new EngineException(ErrorCode.LEASE_LOST, "the queue of this lease is gone");
    }
    require(queue, Privilege.UPDATE);
    return token;
  }

  private QueueChanges changes() {
    return Objects.requireNonNull(transaction).queueChanges();
  }

  // ---- calls ----

  @Override
  public long enqueue(String queue, NewTask task) {
    return changes().enqueue(queueId(queue, Privilege.INSERT), task);
  }

  @Override
  public void complete(String token) {
    changes().complete(token(token));
  }

  @Override
  public void fail(String token, String error, long retryMillis) {
    changes().fail(token(token), error, retryMillis);
  }

  @Override
  public void release(String token) {
    changes().release(token(token));
  }

  @Override
  public long extend(String token, long leaseMillis) {
    return system().extend(token(token), leaseMillis);
  }

  @Override
  public boolean cancel(String queue, long taskId) {
    return changes().cancel(queueId(queue, Privilege.DELETE), taskId);
  }

  @Override
  public List<LeasedTask> received() {
    throw new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED, "a statement of this kind cannot receive tasks");
  }

  // ---- receive ----

  /// The call that arguments mean.
  ReceiveRequest request(ReceiveArguments said, LeaseHolder session) {
    Queue queue = queue(said.queue(), Privilege.UPDATE);
    return new ReceiveRequest(
        queue.queueId(),
        group(queue, said.group()),
        said.max(),
        MAX_RECEIVED_BYTES,
        TimeUnit.MILLISECONDS.toNanos(said.waitMillis()),
        said.leaseMillis(),
        said.byTime() ? LeaseHolder.TIME : session,
        said.completed().stream().map(this::token).toList());
  }

  private static long group(Queue queue, @Nullable String name) {
    List<Group> groups = queue.definition().groups();
    if (name == null && groups.isEmpty()) {
      return QueueDefinition.NO_GROUP;
    }
    if (name == null) {
      throw new EngineException(
              ErrorCode.INVALID_PARAMETER_VALUE,
              "queue \"%s\" is received by its subscription groups".formatted(queue.name()))
          .withHint("Say which one: \"group\" => '...'.");
    }
    Group group = queue.group(name);
    if (group == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "subscription group \"%s\" of queue \"%s\" does not exist".formatted(name, queue.name()));
    }
    return group.groupId();
  }

  // ---- leases whose owner has gone ----

  /// Gives tasks back that their owner cannot have any more. Leases that have ended are passed over, also those that end meanwhile. Does
  /// not block; a failure is logged, and the leases end by their time. Thread-safe.
  ///
  /// @param end puts the end of one lease among the changes, or throws LEASE_LOST
  static void giveBack(
      Store store, List<LeaseToken> tokens, BiConsumer<QueueChanges, LeaseToken> end) {
    QueueSystem queues = store.queues();
    if (tokens.isEmpty() || queues == null) {
      return;
    }
    QueueChanges changes = queues.newChanges();
    for (LeaseToken token : tokens) {
      try {
        end.accept(changes, token);
      } catch (EngineException e) {
        if (e.code() != ErrorCode.LEASE_LOST) {
          throw e;
        }
        LOG.debug("lease {} has ended before its task was given back", token);
      }
    }
    if (changes.isEmpty()) {
      changes.ended(false);
      return;
    }
    store.writeQueues(
        changes,
        failure -> {
          boolean lost = failure instanceof EngineException e && e.code() == ErrorCode.LEASE_LOST;
          if (lost && tokens.size() > 1) {
            // Somebody else has ended one of them since, and all were refused for it: each goes
            // alone.
            tokens.forEach(token -> giveBack(store, List.of(token), end));
          } else if (lost) {
            LOG.debug("lease {} has ended before its task was given back", tokens.getFirst());
          } else if (failure != null) {
            LOG.warn(
                "{} tasks could not be given back: their leases end by time",
                tokens.size(),
                failure);
          }
        });
  }
}
