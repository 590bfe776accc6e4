package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.type.queue.ReceiveArguments;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Services of this engine for applications.
final class EngineApplicationHost implements ApplicationHost {
  private static final Logger LOG = LoggerFactory.getLogger(EngineApplicationHost.class);

  private final EmbeddedEngine engine;
  private final LeaseHolder holder = new Holder();

  EngineApplicationHost(EmbeddedEngine engine) {
    this.engine = engine;
  }

  @Override
  public byte[] jar(ApplicationDefinition.Jar jar) {
    byte[] bytes = engine.catalogSnapshot().applications().jar(jar.sha256());
    if (bytes == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "jar %s (%s) is not in the store".formatted(jar.name(), jar.sha256()));
    }
    return bytes.clone();
  }

  @Override
  public DirectTransaction begin(String user, String isolation) {
    return HostTransaction.begin(engine, user, isolation);
  }

  @Override
  public JoinedAccess join(String user, String token) {
    return JoinedCall.join(engine, user, token);
  }

  // ---- handlers ----

  private QueueCalls queues(String user) {
    CatalogSnapshot catalog = engine.catalogSnapshot();
    return new QueueCalls(
        engine.store(), null, catalog, engine.roles().role(catalog.roles(), user));
  }

  @Override
  public List<LeasedTask> receive(
      String user, String queue, String group, int max, long leaseMillis, long waitNanos)
      throws InterruptedException {
    ReceiveArguments said =
        new ReceiveArguments(
            queue,
            max,
            TimeUnit.NANOSECONDS.toMillis(waitNanos),
            leaseMillis,
            group.isEmpty() ? null : group,
            false,
            List.of());
    CompletableFuture<List<LeasedTask>> come = new CompletableFuture<>();
    QueueSystem.Waiting waiting =
        QueueCalls.system(engine.store())
            .receive(
                queues(user).request(said, holder),
                new QueueSystem.Listener() {
                  @Override
                  public void received(List<LeasedTask> tasks) {
                    come.complete(tasks);
                  }

                  @Override
                  public void failed(EngineException reason) {
                    come.completeExceptionally(reason);
                  }
                });
    try {
      return come.get();
    } catch (InterruptedException interrupted) {
      waiting.cancel();
      // Tasks that have come at the same moment go back.
      var ignored =
          come.thenAccept(
              tasks -> release(tasks.stream().map(task -> task.token().text()).toList()));
      throw interrupted;
    } catch (ExecutionException failed) {
      throw RunFailures.report(failed.getCause() == null ? failed : failed.getCause());
    }
  }

  @Override
  public void extend(String token, long leaseMillis) {
    long ignored = QueueCalls.system(engine.store()).extend(LeaseToken.of(token), leaseMillis);
  }

  @Override
  public void release(List<String> tokens) {
    QueueCalls.giveBack(
        engine.store(), tokens.stream().map(LeaseToken::of).toList(), QueueChanges::release);
  }

  /// Has the leases of all handlers, until the engine ends.
  private static final class Holder implements LeaseHolder {
    @Override
    public String name() {
      return "handlers of applications";
    }

    @Override
    public void lost(LeaseToken token) {
      LOG.debug("a handler has lost a lease");
    }
  }
}
