package dev.kakehashi.server;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Clients of an endpoint that is killed and started again while they work: a thread each, with a session for each life of the endpoint.
///
/// Made and run by one thread; [#committed()] and [#attach()] are for the clients.
final class ClientLoad {
  private static final long LIMIT_NANOS = 60_000_000_000L;

  private final EndpointProcess endpoint;
  private final List<Thread> clients = new ArrayList<>();
  private final AtomicInteger commits = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean stopping;

  ClientLoad(EndpointProcess endpoint) {
    this.endpoint = endpoint;
  }

  /// @param life makes what a session does again and again: one transaction, which may fail when the endpoint dies
  void add(String name, Function<Session, Runnable> life) {
    clients.add(
        new Thread(
            () -> {
              try {
                while (goesOn()) {
                  try (Session session = attach()) {
                    live(session, life);
                  }
                }
              } catch (Throwable e) {
                failure.compareAndSet(null, e);
              }
            },
            name));
  }

  /// Runs the clients until they have committed so many transactions in each of the endpoint's lives.
  ///
  /// @param kills times that it is killed and started again
  /// @param afterKill what to do before it is started
  void run(int commitsInALife, int kills, Runnable afterKill)
      throws InterruptedException, IOException {
    clients.forEach(Thread::start);
    for (int life = 0; life <= kills; life++) {
      awaitCommits((life + 1) * commitsInALife);
      if (life < kills && failure.get() == null) {
        endpoint.kill();
        afterKill.run();
        endpoint.start();
      }
    }
    stopping = true;
    for (Thread client : clients) {
      client.join();
    }
    if (failure.get() != null) {
      throw new AssertionError("a client failed", failure.get());
    }
  }

  /// A commit was acknowledged.
  void committed() {
    commits.incrementAndGet();
  }

  int commits() {
    return commits.get();
  }

  /// A session with the endpoint, in its next life if this one is over.
  Session attach() throws InterruptedException {
    long deadline = System.nanoTime() + 3 * LIMIT_NANOS;
    while (true) {
      try {
        return endpoint.attach();
      } catch (EndpointException down) {
        if (System.nanoTime() > deadline || failure.get() != null) {
          throw down;
        }
        Thread.sleep(20); // another process comes up: there is nothing here to wait for
      }
    }
  }

  private boolean goesOn() {
    return !stopping && failure.get() == null;
  }

  private void live(Session session, Function<Session, Runnable> life) {
    try {
      Runnable transaction = life.apply(session);
      while (goesOn()) {
        transaction.run();
      }
    } catch (EndpointException e) {
      if (session.isAlive()) {
        throw e;
      }
    }
  }

  private void awaitCommits(int count) throws InterruptedException {
    int last = -1;
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (commits.get() < count && failure.get() == null) {
      if (commits.get() != last) {
        last = commits.get();
        deadline = System.nanoTime() + LIMIT_NANOS;
      }
      if (System.nanoTime() >= deadline) {
        throw new AssertionError("no transaction commits any more");
      }
      // A look now and then: a signal for each commit would be part of the load.
      Thread.sleep(1);
    }
  }
}
