package dev.kakehashi.queue.push;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.api.queue.TaskView;
import dev.kakehashi.queue.DurableQueues;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Queues, some of which push their tasks to targets. Thread-safe.
///
/// Everything but the pushes is [DurableQueues]'. A target that is not allowed is refused when it is said. Where it is not allowed any more
/// each attempt fails, and the task's last error says why.
public final class PushingQueues implements QueueSystem {
  private static final Logger LOG = LoggerFactory.getLogger(PushingQueues.class);
  private static final String KEY_FILE = "push.key";

  private final DurableQueues queues;
  private final Path directory;
  private final PushTargets targets;

  /// By queue and group; guarded by `pushes`.
  private final Map<PushedGroup, QueuePush> pushes = new HashMap<>();

  /// Set once, before the first push.
  private volatile @Nullable QueueHost host;

  private @Nullable PushRequests requests;
  private boolean closed;

  private record PushedGroup(long queueId, long groupId) {}

  private PushingQueues(DurableQueues queues, Path directory, PushTargets targets) {
    this.queues = queues;
    this.directory = directory;
    this.targets = targets;
    queues.checkPushTargets(targets::check);
  }

  /// As the engine wants it.
  public static QueueOpener opener(PushTargets targets) {
    return directory -> new PushingQueues(DurableQueues.open(directory), directory, targets);
  }

  @Override
  public void start(QueueHost its, List<QueueDefinition> definitions) {
    host = its;
    queues.start(its, definitions);
    push(definitions);
  }

  @Override
  public void define(List<QueueDefinition> definitions) {
    queues.define(definitions);
    QueueHost its = host;
    if (its != null) {
      // On another thread: this one commits.
      its.execute(() -> push(definitions));
    }
  }

  /// Begins and ends pushes as the catalogue says.
  private void push(List<QueueDefinition> definitions) {
    QueueHost its = host;
    if (its == null) {
      return;
    }
    synchronized (pushes) {
      if (closed) {
        return;
      }
      Set<PushedGroup> wanted = new HashSet<>();
      for (QueueDefinition each : definitions) {
        if (isPushed(each)) {
          List<Long> groups =
              each.groups().isEmpty()
                  ? List.of(QueueDefinition.NO_GROUP)
                  : each.groups().stream().map(QueueDefinition.Group::groupId).toList();
          for (long groupId : groups) {
            PushedGroup key = new PushedGroup(each.queueId(), groupId);
            wanted.add(key);
            QueuePush push =
                pushes.computeIfAbsent(
                    key,
                    one ->
                        new QueuePush(
                            queues, its, requests(its), queues::enforceRate, each, groupId));
            push.define(each);
            push.ask();
          }
        }
      }
      pushes
          .entrySet()
          .removeIf(entry -> {
            boolean gone = !wanted.contains(entry.getKey());
            if (gone) {
              entry.getValue().close();
            }
            return gone;
          });
    }
  }

  private boolean isPushed(QueueDefinition queue) {
    String url = queue.options().push().target();
    if (url == null) {
      return false;
    }
    try {
      targets.check(url);
    } catch (EngineException e) {
      LOG.warn("pushes of queue {}.{} will fail: {}", queue.schema(), queue.name(), e.getMessage());
    }
    return true;
  }

  private PushRequests requests(QueueHost its) {
    PushRequests present = requests;
    if (present == null) {
      present =
          new PushRequests(targets, PushSignature.of(directory.resolve(KEY_FILE)), its::wallMillis);
      requests = present;
    }
    return present;
  }

  @Override
  public void close() {
    PushRequests client;
    synchronized (pushes) {
      closed = true;
      pushes.values().forEach(QueuePush::close);
      pushes.clear();
      client = requests;
      requests = null;
    }
    try {
      queues.close();
    } finally {
      if (client != null) {
        client.close();
      }
    }
  }

  // ---- what is the queues' alone ----

  @Override
  public void replay(byte[] bytes, int offset, int length) {
    queues.replay(bytes, offset, length);
  }

  @Override
  public QueueChanges recovered(byte[] bytes, int offset, int length) {
    return queues.recovered(bytes, offset, length);
  }

  @Override
  public void durable(long record) {
    queues.durable(record);
  }

  @Override
  public void force() {
    queues.force();
  }

  @Override
  public List<Path> holdFiles() {
    return queues.holdFiles();
  }

  @Override
  public void releaseFiles() {
    queues.releaseFiles();
  }

  @Override
  public QueueChanges newChanges() {
    return queues.newChanges();
  }

  @Override
  public Waiting receive(ReceiveRequest request, Listener listener) {
    return queues.receive(request, listener);
  }

  @Override
  public long extend(LeaseToken token, long leaseMillis) {
    return queues.extend(token, leaseMillis);
  }

  @Override
  public void endHolder(LeaseHolder holder) {
    queues.endHolder(holder);
  }

  @Override
  public @Nullable Long queueOf(LeaseToken token) {
    return queues.queueOf(token);
  }

  @Override
  public List<QueueState> states() {
    return queues.states();
  }

  @Override
  public void tasks(long queueId, TaskVisitor visitor) {
    queues.tasks(queueId, visitor);
  }

  @Override
  public void leases(Consumer<TaskView> visitor) {
    queues.leases(visitor);
  }

  @Override
  public void check(Consumer<String> problem) {
    queues.check(problem);
  }
}
