package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.PoliteSpin;
import dev.kakehashi.transport.TransportConfig;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongUnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that reads every queue.
///
/// It polls the queues in turn, a few requests each, so that no queue starves another; runs what other threads have handed to it; and
/// looks at channels that wait. With nothing to do it spins for a while (longer when that has paid off lately), then sleeps on the doorbell until somebody rings or the next timer is due.
final class Poller implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
  private static final int REQUESTS_PER_TURN = 32;
  private static final long IDLE_TICK_NANOS = 1_000_000_000L;

  private final Doorbell doorbell;
  private final RequestQueue.FrameConsumer consumer;
  private final ChannelInspector channels;
  private final LongUnaryOperator tick;
  private final long minSpinNanos;
  private final long maxSpinNanos;
  private final CopyOnWriteArrayList<RequestQueue> queues = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final PoliteSpin spin = new PoliteSpin();
  private volatile boolean stopped;
  private long spinNanos;
  private long nextTickNanos;

  Poller(
      Doorbell doorbell,
      RequestQueue.FrameConsumer consumer,
      ChannelInspector channels,
      LongUnaryOperator tick,
      TransportConfig.Polling config) {
    this.doorbell = doorbell;
    this.consumer = consumer;
    this.channels = channels;
    this.tick = tick;
    this.minSpinNanos = config.minSpin().toNanos();
    this.maxSpinNanos = config.maxSpin().toNanos();
    this.spinNanos = minSpinNanos;
  }

  /// Adds a queue. Any thread; requests appended afterwards are seen.
  void add(RequestQueue queue) {
    queues.add(queue);
    doorbell.ring();
  }

  /// Takes a queue out. Poller only, after which the caller may close it.
  void remove(RequestQueue queue) {
    queues.remove(queue);
  }

  /// Runs `command` on this thread, before requests that are appended later. Any thread.
  void execute(Runnable command) {
    commands.add(command);
    doorbell.ring();
  }

  /// Makes the next turn look at the timers. Any thread.
  void retime() {
    execute(() -> nextTickNanos = System.nanoTime());
  }

  /// Makes [#run()] return soon. Any thread.
  void stop() {
    stopped = true;
    doorbell.ring();
  }

  @Override
  public void run() {
    nextTickNanos = System.nanoTime();
    while (!stopped) {
      if (!turn()) {
        idle();
      }
      tickIfDue(System.nanoTime());
    }
    runCommands();
  }

  /// One look at everything; false when there was nothing to do.
  private boolean turn() {
    boolean worked = runCommands();
    for (int i = 0; i < queues.size(); i++) {
      worked |= poll(queues.get(i)) > 0;
    }
    if (doorbell.takeReleased()) {
      channels.checkWritable();
      worked = true;
    }
    return worked;
  }

  private int poll(RequestQueue queue) {
    try {
      return queue.poll(consumer, REQUESTS_PER_TURN);
    } catch (RuntimeException | InternalError e) {
      // The consumer handles its own failures: this one comes from the queue's files, which clients
      // can write to.
      LOG.error("queue {} cannot be read, its sessions end", queue.name(), e);
      channels.queueFailed(queue);
      return 0;
    }
  }

  private boolean runCommands() {
    Runnable command = commands.poll();
    if (command == null) {
      return false;
    }
    do {
      try {
        command.run();
      } catch (RuntimeException e) {
        LOG.error("command of the poller failed", e);
      }
      command = commands.poll();
    } while (command != null);
    return true;
  }

  private void tickIfDue(long now) {
    if (now - nextTickNanos >= 0) {
      long delay = Math.min(tick.applyAsLong(now), channels.inspect(now));
      nextTickNanos = now + Math.clamp(delay, 1_000_000, IDLE_TICK_NANOS);
    }
  }

  /// Spins, then sleeps. Spinning pays when work comes within `maxSpinNanos`; then the next spin is longer.
  private void idle() {
    long start = System.nanoTime();
    long untilTick = nextTickNanos - start;
    if (spin.await(this::look, Math.min(spinNanos, untilTick))) {
      spinNanos = Math.min(maxSpinNanos, 2 * spinNanos);
      return;
    }
    long timeout = nextTickNanos - System.nanoTime();
    if (timeout > 0) {
      doorbell.sleep(timeout, this::hasWork);
    }
    boolean soon = System.nanoTime() - start < maxSpinNanos;
    spinNanos =
        soon ? Math.min(maxSpinNanos, 2 * spinNanos) : Math.max(minSpinNanos, spinNanos / 2);
  }

  private boolean look() {
    return stopped || turn();
  }

  /// The look between "sleeping" and the wait; work found is done at once.
  private boolean hasWork() {
    return stopped || turn() || doorbell.hasReleased();
  }

  /// Looks after channels and failed queues for the poller.
  interface ChannelInspector {
    /// Producers may go on: a batch they wait for has been released.
    void checkWritable();

    /// Looks at everything that waits; returns when to do so again, in nanoseconds from now.
    long inspect(long nowNanos);

    /// Ends the sessions of the queue, and takes it out of the poller.
    void queueFailed(RequestQueue queue);
  }
}
