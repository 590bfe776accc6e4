package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.PoliteSpin;
import dev.kakehashi.transport.TransportConfig;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads every queue, as a role of which two threads take turns (leader and follower, Schmidt 2000).
///
/// The leader polls the queues in turn, a few requests each, so that no queue starves another; runs what other threads have handed to it;
/// and looks at channels that wait. With nothing to do it spins for a while (longer when that has paid off lately), then sleeps on the
/// doorbell until somebody rings or the next timer is due.
///
/// A request may leave work behind that blocks, the flush of a commit above all. The leader does it itself, between two turns, because
/// handing it over costs as much as a third of it: it gives up the role before, and takes it again afterwards if nobody else has. As long
/// as the clients only wait for that work, nobody is woken: work that says when it has blocked ([#unblocked()]) tells its clients with the
/// role in hand, so that their next requests find somebody awake.
///
/// *The role.* `leader` is null while nobody has it. A leader gives it up only after it has stored `sleeping` on the doorbell, and after a
/// last look at everything that follows that store. A thread that may sleep reads the bell, then tries to take the role, then waits for the
/// bell to change. So a thread that publishes work while nobody leads sees `sleeping`, rings, and wakes a thread that takes the role. The
/// last look sees work that was published before. If it does not, the publisher has rung between that look and the giving up, and the
/// leader sees that at the bell afterwards. All other fields belong to the leader and go over with `leader`.
///
/// *Guests.* Another thread may take the role for one command of its own ([#runOrExecute]), which saves it a hop to a thread that would
/// have to be woken. A guest leaves `sleeping` as it is, so all threads that publish meanwhile ring. They do so in vain at first: a thread
/// that this wakes finds the role taken. So the guest reads the bell before it takes the role, and looks at everything once after its
/// command. When it has given the role up and the bell is another one, it wakes a thread. Its look sees work that was published and rung
/// before it read the bell; work that comes after that look has changed the bell. A guest never sleeps with the role, and never blocks for
/// deferred work.
final class Poller implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
  private static final int REQUESTS_PER_TURN = 32;

  private final Doorbell doorbell;
  private final RequestQueue.FrameConsumer consumer;
  private final ChannelInspector channels;
  private final LongUnaryOperator tick;
  private final long minSpinNanos;
  private final long maxSpinNanos;
  private final long idleTickNanos;
  private final CopyOnWriteArrayList<RequestQueue> queues = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final PoliteSpin spin = new PoliteSpin();
  private final AtomicReference<@Nullable Thread> leader = new AtomicReference<>();
  private volatile boolean stopped;
  private long spinNanos;
  private long nextTickNanos = System.nanoTime();
  private @Nullable Runnable deferred;

  /// Stack of a thread: a light statement is planned and run here, and recursion over its text goes as deep as on a worker. Only the used
  /// part takes memory.
  private static final long STACK_BYTES = 16L << 20;

  /// One of the threads that take turns. `blocks` is its own: whether it runs deferred work and does not have the role.
  private static final class PollerThread extends Thread {
    private boolean blocks;

    PollerThread(Poller poller, int number) {
      super(null, poller, "kakehashi-poller-" + number, STACK_BYTES);
      setDaemon(true); // code that it was lent to does not keep the process
    }
  }

  /// @param tick called when the time is there that its last call has returned, in nanoseconds from then
  /// @param idleTickNanos longest time between two calls
  Poller(
      Doorbell doorbell,
      RequestQueue.FrameConsumer consumer,
      ChannelInspector channels,
      LongUnaryOperator tick,
      long idleTickNanos,
      TransportConfig.Polling config) {
    this.doorbell = doorbell;
    this.consumer = consumer;
    this.channels = channels;
    this.tick = tick;
    this.idleTickNanos = idleTickNanos;
    this.minSpinNanos = config.minSpin().toNanos();
    this.maxSpinNanos = config.maxSpin().toNanos();
    this.spinNanos = minSpinNanos;
    doorbell.announceSleep(); // nobody leads
  }

  /// The threads to start; they end after [#stop()].
  List<Thread> threads() {
    return List.of(new PollerThread(this, 0), new PollerThread(this, 1));
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
    Thread caller = Thread.currentThread();
    // A thread that is about to ask for the role runs it, or rings if it does not get it. A guest
    // looks after its command.
    boolean looks =
        caller instanceof PollerThread poller ? poller.blocks : caller.equals(leader.get());
    if (!looks) {
      doorbell.ring();
    }
  }

  /// Runs `command` on the calling thread, if nobody has the role; else leaves it to [#execute(Runnable)]. Either way it runs after the
  /// commands of earlier calls: those that nobody has begun are run before it, and one that somebody runs keeps the role from the caller.
  /// Any thread.
  void runOrExecute(Runnable command) {
    int bell = doorbell.bell();
    Thread guest = Thread.currentThread();
    if (stopped || guest instanceof PollerThread || !leader.compareAndSet(null, guest)) {
      execute(command);
      return;
    }
    boolean others = true;
    boolean due = true;
    try {
      long tick = nextTickNanos;
      runCommands();
      run(command);
      runCommands(); // that it has handed on
      others = turn();
      // A sleeping thread would be late for the timers, if they have been set anew, or if it has
      // come for them and found the role taken.
      due = nextTickNanos - tick < 0 || System.nanoTime() - nextTickNanos >= 0;
    } finally {
      leader.set(null);
      // More is to be expected from others whose requests were there.
      if (others || due || doorbell.bell() != bell) {
        doorbell.wake();
      }
    }
  }

  /// Runs `work`, which may block, on this thread after the requests that have arrived by now.
  ///
  /// @return false: the calling thread is none of the poller's, does not lead, or has other work to do then
  boolean tryDefer(Runnable work) {
    Thread caller = Thread.currentThread();
    if (!(caller instanceof PollerThread)
        || !caller.equals(leader.get())
        || (deferred != null && !deferred.equals(work))) {
      return false;
    }
    deferred = work;
    return true;
  }

  /// The deferred work of the calling thread does not block from here on: takes the role, if nobody else has it.
  ///
  /// @return whether the thread leads: work that blocks again is to be deferred again
  boolean unblocked() {
    if (!(Thread.currentThread() instanceof PollerThread self && self.blocks) || !takeRole()) {
      return false;
    }
    self.blocks = false;
    return true;
  }

  /// Makes the next turn look at the timers. Any thread.
  void retime() {
    execute(() -> nextTickNanos = System.nanoTime());
  }

  /// Makes [#run()] return soon, on all threads. Any thread.
  void stop() {
    stopped = true;
    doorbell.wakeAll();
  }

  @Override
  public void run() {
    while (!stopped) {
      int bell = doorbell.bell();
      if (takeRole()) {
        lead();
      } else if (!stopped) {
        doorbell.await(bell, idleTickNanos);
      }
    }
    // A thread that still leads runs the rest itself.
    if (takeRole()) {
      runCommands();
      Runnable work = deferred;
      deferred = null;
      if (work != null) {
        work.run();
      }
      leader.set(null);
    }
  }

  private boolean takeRole() {
    if (!leader.compareAndSet(null, Thread.currentThread())) {
      return false;
    }
    doorbell.awake();
    return true;
  }

  /// Works until the role is given up.
  private void lead() {
    while (!stopped) {
      boolean worked = turn();
      tickIfDue(System.nanoTime());
      if (deferred != null) {
        if (!runDeferred()) {
          return;
        }
      } else if (!worked && !idle()) {
        return;
      }
    }
    leader.set(null);
  }

  /// Runs what may block; false when another thread leads afterwards.
  private boolean runDeferred() {
    int bell = doorbell.bell();
    doorbell.announceSleep();
    boolean others = turn();
    Runnable work = deferred;
    deferred = null;
    leader.set(null);
    // More is to be expected from those clients; or one has rung after the last look, and whom that
    // woke has found the role taken.
    if (others || doorbell.bell() != bell) {
      doorbell.wake();
    }
    PollerThread self = Thread.currentThread() instanceof PollerThread thread ? thread : null;
    try {
      if (self != null) {
        self.blocks = true;
      }
      if (work != null) {
        work.run();
      }
    } catch (Throwable e) {
      LOG.error("deferred work of the poller failed", e);
    } finally {
      if (self != null) {
        self.blocks = false;
      }
    }
    if (Thread.currentThread().equals(leader.get()) || takeRole()) {
      return true;
    }
    doorbell.ring();
    return false;
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
    } catch (Throwable e) {
      // An Error, too: without this thread nobody is served. The consumer handles its own failures,
      // so this one comes from the queue's files, which clients can write to.
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
      run(command);
      command = commands.poll();
    } while (command != null);
    return true;
  }

  private static void run(Runnable command) {
    try {
      command.run();
    } catch (Throwable e) {
      LOG.error("command of the poller failed", e);
    }
  }

  private void tickIfDue(long now) {
    if (now - nextTickNanos >= 0) {
      long delay = idleTickNanos;
      try {
        delay = Math.min(tick.applyAsLong(now), channels.inspect(now));
      } catch (Throwable e) {
        LOG.error("timers of the poller failed", e);
      }
      nextTickNanos = now + Math.clamp(delay, 1_000_000, idleTickNanos);
    }
  }

  /// Spins, then sleeps without the role. Spinning pays when work comes within `maxSpinNanos`; then the next spin is longer.
  ///
  /// @return false when another thread leads afterwards
  private boolean idle() {
    long start = System.nanoTime();
    long untilTick = nextTickNanos - start;
    if (spin.await(this::look, Math.min(spinNanos, untilTick))) {
      spinNanos = Math.min(maxSpinNanos, 2 * spinNanos);
      return true;
    }
    long timeout = nextTickNanos - System.nanoTime();
    if (timeout > 0) {
      int bell = doorbell.bell();
      doorbell.announceSleep();
      if (hasWork()) {
        doorbell.awake();
      } else {
        leader.set(null);
        doorbell.await(bell, timeout);
        if (!takeRole()) {
          return false;
        }
      }
    }
    boolean soon = System.nanoTime() - start < maxSpinNanos;
    spinNanos =
        soon ? Math.min(maxSpinNanos, 2 * spinNanos) : Math.max(minSpinNanos, spinNanos / 2);
    return true;
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
