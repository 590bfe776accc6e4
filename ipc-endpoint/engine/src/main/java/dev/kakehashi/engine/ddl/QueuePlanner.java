package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition.Group;
import dev.kakehashi.engine.api.queue.QueueDefinition.Schedule;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.QueueStatement;
import dev.kakehashi.engine.sql.parser.QueueStatement.Action;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Zone;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Statements about queues. The definition of a queue is in the catalogue. Its tasks are with the queue system, which is told in the same
/// transaction. Privileges are checked here, too.
final class QueuePlanner {
  private static final int MOST_GROUPS = 64;
  private static final int MOST_WEIGHTS = 10_000;
  private static final int MOST_SCHEDULES = 100;
  private static final int MOST_SCHEDULE_BYTES = 64 << 10;

  private final DefinitionPlan plan;

  QueuePlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  void plan(QueueStatement statement) {
    switch (statement) {
      case QueueStatement.CreateQueue create -> create(create);
      case QueueStatement.AlterQueue alter -> {
        Queue queue = owned(alter.name(), alter.ifExists());
        if (queue != null) {
          alter(queue, alter.action());
        }
      }
      case QueueStatement.DropQueue drop -> drop(drop);
      case QueueStatement.CreateGroup create -> createGroup(create);
      case QueueStatement.DropGroup drop -> dropGroup(drop);
      case QueueStatement.Purge purge -> {
        long id = require(purge.queue(), Privilege.DELETE).queueId();
        plan.lock(id, Mode.SHARED);
        plan.queue(changes -> {
          changes.purge(id, purge.dead());
          return 0;
        });
      }
      case QueueStatement.Move move -> {
        long from = require(move.from(), Privilege.DELETE).queueId();
        long to = require(move.to(), Privilege.INSERT).queueId();
        if (from == to && !move.dead()) {
          throw invalid("a queue\'s tasks cannot be moved to itself");
        }
        String text = move.rate();
        double rate = text == null ? -1 : QueueOptionReader.rate("rate", text);
        if (rate == 0) {
          throw invalid("the rate of MOVE must be greater than 0");
        }
        plan.lock(from, Mode.SHARED);
        plan.lock(to, Mode.SHARED);
        plan.queue(changes -> changes.move(from, to, move.dead(), move.max(), move.error(), rate));
      }
    }
  }

  // ---- names ----

  private @Nullable Queue find(QualifiedName name, boolean ifExists) {
    String schema = DefinitionPlanner.schema(name);
    CatalogSnapshot state = plan.state();
    if (name.schema() != null && state.hasSchema(schema)) {
      plan.permissions().requireOnSchema(schema, Privilege.USAGE);
    }
    Queue queue = state.queue(schema, name.name());
    if (queue != null) {
      return queue;
    }
    if (plan.isTaken(schema, name.name())) {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "\"" + name.name() + "\" is not a queue")
          .withPosition(name.position());
    }
    if (ifExists) {
      return null;
    }
    throw new EngineException(
            ErrorCode.UNDEFINED_OBJECT, "queue \"" + name.name() + "\" does not exist")
        .withPosition(name.position());
  }

  private @Nullable Queue owned(QualifiedName name, boolean ifExists) {
    Queue queue = find(name, ifExists);
    if (queue != null) {
      plan.permissions().requireOwner(queue.rights(), "queue", queue.name());
    }
    return queue;
  }

  private Queue require(QualifiedName name, Privilege privilege) {
    Queue queue = Objects.requireNonNull(find(name, false));
    require(queue, privilege);
    return queue;
  }

  private void require(Queue queue, Privilege privilege) {
    int may = plan.permissions().on(ObjectKind.QUEUE, queue.rights());
    if ((may & privilege.bit()) == 0) {
      throw Permissions.denied("queue", queue.name());
    }
  }

  // ---- queues ----

  private void create(QueueStatement.CreateQueue create) {
    String schema = DefinitionPlanner.schema(create.name());
    String name = create.name().name();
    plan.requireSchema(schema);
    plan.permissions().requireOnSchema(schema, Privilege.CREATE);
    if (create.ifNotExists() && plan.isTaken(schema, name)) {
      return;
    }
    plan.refuseTaken(schema, name);
    long id = plan.newObjectId();
    QueueOptions options =
        new QueueOptionReader(QueueOptions.DEFAULT, this::deadLetter).with(create.options());
    QueueDefinition definition =
        new QueueDefinition(id, schema, name, options, List.of(), Map.of(), List.of());
    put(new Queue(definition, null, plan.made(ObjectKind.QUEUE, schema)));
    plan.queue(changes -> {
      changes.createQueue(id);
      return 0;
    });
  }

  private void put(Queue queue) {
    plan.change(CatalogSnapshot.put(queue));
  }

  private long deadLetter(String text) {
    TokenReader in = new TokenReader(text, Lexer.tokenize(text), 0);
    QualifiedName name = in.name();
    in.expectEnd();
    Queue queue;
    try {
      queue = require(name, Privilege.INSERT);
    } catch (EngineException refused) {
      // Its place is in another text.
      throw new EngineException(refused.code(), String.valueOf(refused.getMessage()), refused);
    }
    return queue.queueId();
  }

  private void alter(Queue queue, Action action) {
    switch (action) {
      case Action.SetOptions set -> {
        QueueOptions next =
            new QueueOptionReader(queue.options(), this::deadLetter).with(set.options());
        refuseCircle(queue, next.retry().deadLetter());
        put(queue.withOptions(next));
      }
      case Action.ResetOptions reset ->
          put(
              queue.withOptions(
                  new QueueOptionReader(queue.options(), this::deadLetter).without(reset.names())));
      case Action.RenameQueue rename -> {
        plan.permissions().requireOnSchema(queue.schema(), Privilege.CREATE);
        plan.refuseTaken(queue.schema(), rename.to());
        put(queue.named(queue.schema(), rename.to()));
      }
      case Action.MoveToSchema move -> {
        plan.requireSchema(move.schema());
        plan.permissions().requireOnSchema(move.schema(), Privilege.CREATE);
        if (!move.schema().equals(queue.schema())) {
          plan.refuseTaken(move.schema(), queue.name());
          put(queue.named(move.schema(), queue.name()));
        }
      }
      case Action.SetPaused set ->
          put(queue.withOptions(QueueOptionReader.paused(queue.options(), set.paused())));
      case Action.PushTo push -> {
        String target = push.target();
        if (target != null) {
          checkTarget(target);
          plan.queue(changes -> {
            changes.requirePushTarget(target);
            return 0;
          });
        }
        put(queue.withOptions(QueueOptionReader.pushed(queue.options(), target)));
      }
      case Action.SetWeight set -> weigh(queue, set);
      case Action.AddSchedule add -> schedule(queue, add);
      case Action.DropSchedule drop -> {
        List<Schedule> left = new ArrayList<>(queue.definition().schedules());
        if (!left.removeIf(each -> each.name().equals(drop.name()))) {
          throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT,
              "schedule \"%s\" of queue \"%s\" does not exist"
                  .formatted(drop.name(), queue.name()));
        }
        put(queue.withSchedules(left));
      }
    }
  }

  /// Dead tasks that came back would go round for ever.
  private void refuseCircle(Queue queue, long deadLetter) {
    Queue next = plan.state().queue(deadLetter);
    while (next != null) {
      if (next.queueId() == queue.queueId()) {
        throw invalid(
            deadLetter == queue.queueId()
                ? "a queue cannot be its own dead letter queue"
                : "dead letters of queue \"%s\" would come back to it".formatted(queue.name()));
      }
      // Nobody sends its dead letters elsewhere meanwhile.
      plan.lock(next.queueId(), Mode.BUILD);
      next = plan.state().queue(next.options().retry().deadLetter());
    }
  }

  private static void checkTarget(String target) {
    boolean fits = false;
    try {
      URI uri = new URI(target);
      String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
      fits =
          (scheme.equals("http") || scheme.equals("https"))
              && uri.getHost() != null
              && uri.getRawUserInfo() == null
              && uri.getRawFragment() == null;
    } catch (URISyntaxException noUri) {
      throw invalid("invalid target of a push: " + noUri.getMessage());
    }
    if (!fits) {
      throw invalid("invalid target of a push: \"" + target + "\"")
          .withHint("It is a URL like http://host:port/path, without user or fragment.");
    }
  }

  private void weigh(Queue queue, Action.SetWeight set) {
    double weight;
    try {
      weight = Double.parseDouble(set.weight());
    } catch (NumberFormatException none) {
      throw invalid("invalid weight: \"" + set.weight() + "\"");
    }
    if (!(weight >= 0.001 && weight <= 1000)) {
      throw invalid("a weight must be between 0.001 and 1000");
    }
    if (set.key().getBytes(StandardCharsets.UTF_8).length > NewTask.MAX_KEY_BYTES) {
      throw tooMany("a fair key may have at most " + NewTask.MAX_KEY_BYTES + " bytes");
    }
    Map<String, Double> weights = new HashMap<>(queue.definition().weights());
    if (weight == 1) {
      weights.remove(set.key());
    } else {
      weights.put(set.key(), weight);
    }
    if (weights.size() > MOST_WEIGHTS) {
      throw tooMany("a queue may have at most " + MOST_WEIGHTS + " weights");
    }
    put(queue.withWeights(weights));
  }

  private void schedule(Queue queue, Action.AddSchedule add) {
    List<Schedule> schedules = new ArrayList<>(queue.definition().schedules());
    if (schedules.stream().anyMatch(each -> each.name().equals(add.name()))) {
      throw new EngineException(
          ErrorCode.DUPLICATE_OBJECT,
          "schedule \"%s\" of queue \"%s\" already exists".formatted(add.name(), queue.name()));
    }
    CronFields.check(add.cron());
    String zone = add.zone() == null ? Zone.UTC.name() : add.zone();
    Zone.named(zone);
    byte[] payload;
    try (VarHeap heap = new VarHeap()) {
      payload = Varlena.bytes(Values.parse(TypeOid.JSONB, add.payload(), heap, Zone.UTC));
    }
    if (payload.length > MOST_SCHEDULE_BYTES) {
      throw tooMany("the payload of a schedule may have at most " + MOST_SCHEDULE_BYTES + " bytes");
    }
    schedules.add(new Schedule(add.name(), add.cron().strip(), zone, new Payload(true, payload)));
    if (schedules.size() > MOST_SCHEDULES) {
      throw tooMany("a queue may have at most " + MOST_SCHEDULES + " schedules");
    }
    put(queue.withSchedules(schedules));
  }

  // ---- drop ----

  private void drop(QueueStatement.DropQueue drop) {
    List<Queue> gone = new ArrayList<>();
    for (QualifiedName name : drop.names()) {
      Queue queue = find(name, drop.ifExists());
      if (queue != null && !gone.contains(queue)) {
        Rights schema = plan.state().access().schema(queue.schema());
        if (!plan.permissions().owns(schema)) {
          plan.permissions().requireOwner(queue.rights(), "queue", queue.name());
        }
        gone.add(queue);
      }
    }
    drop(gone, drop.cascade());
  }

  /// The queues go, with their tasks. Queues whose dead letters they get keep these from then on.
  ///
  /// @throws EngineException DEPENDENT_OBJECTS_EXIST if there are such, and not `cascade`
  void drop(List<Queue> gone, boolean cascade) {
    for (Queue other : List.copyOf(plan.state().queueObjects())) {
      Queue target = plan.state().queue(other.options().retry().deadLetter());
      if (target == null || !contains(gone, target) || contains(gone, other)) {
        continue;
      }
      if (!cascade) {
        throw new EngineException(
                ErrorCode.DEPENDENT_OBJECTS_EXIST,
                "cannot drop queue %s because other objects depend on it".formatted(target.name()))
            .withDetail(
                "queue %s has queue %s for its dead letters".formatted(other.name(), target.name()))
            .withHint("Use DROP ... CASCADE to let the others keep their dead tasks.");
      }
      put(other.withOptions(QueueOptionReader.withoutDeadLetter(other.options())));
    }
    for (Queue queue : gone) {
      long id = queue.queueId();
      plan.lock(id, Mode.EXCLUSIVE);
      plan.change(CatalogSnapshot.remove(queue));
      plan.queue(changes -> {
        changes.dropQueue(id);
        return 0;
      });
    }
  }

  private static boolean contains(List<Queue> queues, Queue queue) {
    return queues.stream().anyMatch(each -> each.queueId() == queue.queueId());
  }

  List<Queue> inSchema(String schema) {
    return plan.state().queueObjects().stream()
        .filter(queue -> queue.schema().equals(schema))
        .toList();
  }

  // ---- groups ----

  private void createGroup(QueueStatement.CreateGroup create) {
    Queue queue = Objects.requireNonNull(owned(create.queue(), false));
    if (queue.group(create.group()) != null) {
      if (create.ifNotExists()) {
        return;
      }
      throw new EngineException(
          ErrorCode.DUPLICATE_OBJECT,
          "subscription group \"%s\" of queue \"%s\" already exists"
              .formatted(create.group(), queue.name()));
    }
    List<Group> groups = new ArrayList<>(queue.definition().groups());
    if (groups.size() == MOST_GROUPS) {
      throw tooMany("a queue may have at most " + MOST_GROUPS + " subscription groups");
    }
    long groupId = plan.newObjectId();
    groups.add(new Group(groupId, create.group()));
    put(queue.withGroups(groups));
    plan.queue(changes -> {
      changes.createGroup(queue.queueId(), groupId, create.first());
      return 0;
    });
  }

  private void dropGroup(QueueStatement.DropGroup drop) {
    Queue queue = owned(drop.queue(), drop.ifExists());
    Group group = queue == null ? null : queue.group(drop.group());
    if (queue == null || group == null) {
      if (drop.ifExists()) {
        return;
      }
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "subscription group \"%s\" of queue \"%s\" does not exist"
              .formatted(drop.group(), drop.queue().name()));
    }
    List<Group> groups = new ArrayList<>(queue.definition().groups());
    groups.remove(group);
    put(queue.withGroups(groups));
    plan.queue(changes -> {
      changes.dropGroup(queue.queueId(), group.groupId());
      return 0;
    });
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  private static EngineException tooMany(String message) {
    return new EngineException(ErrorCode.LIMIT_EXCEEDED, message);
  }
}
