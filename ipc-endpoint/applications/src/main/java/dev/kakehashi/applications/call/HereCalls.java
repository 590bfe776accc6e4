package dev.kakehashi.applications.call;

import dev.kakehashi.applications.watch.CarriedThreads;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs calls that have been short so far on the thread that has read their requests, which spares them two changes of threads.
/// Thread-safe.
///
/// That thread lends itself for work that may block ([BlockingExecutor]): it has given up its role before, so nobody waits for users' code.
/// Each call has its virtual thread as always; the lent thread carries it until it waits for something, and it goes on with the usual
/// carriers then.
///
/// A *turn* carries the calls of the requests that have arrived together, one after the other:
///
/// ```
///  1  users' code of each call, to its end or its first wait      without the role
///  2  callers of those that have ended are told                   the same, if there is a flush to wait for
///  3  the flush of what the calls have committed                  the same; takes the role when it has blocked
///  4  calls that only waited for their commit, to their end       with the role: nothing of users' code is left
///  5  the other callers are told                                  the same
/// ```
///
/// One lent thread at a time carries users' code. It also carries the calls that another lent thread brings meanwhile. While a call holds
/// the carrying thread up, nothing is deferred: the other thread leads, and never blocks. Work that a turn has taken over lies in queues,
/// from which any thread may take it. So [#look] relieves a turn that a call holds up of the rest.
///
/// *Work handed to a turn from another thread.* A call that has waited may go on elsewhere before its turn has noticed. So [#isCarrying]
/// may be true for it although the carrying is over soon. A thread that hands work over looks again afterwards, and takes the work back if
/// the carrying is over. The turn ends the carrying first and looks at the queues afterwards.
public final class HereCalls implements BlockingExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(HereCalls.class);

  /// After that, the other calls of a turn go the usual way.
  private static final long TURN_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

  /// A turn that takes longer is relieved of what waits for it.
  private static final long HELD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final BlockingExecutor lender;
  private final Runnable turn = this::turn;

  /// Whether a lent thread carries users' code.
  private final AtomicBoolean busy = new AtomicBoolean();

  private final ConcurrentLinkedQueue<UserCall> waiting = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Runnable> endings = new ConcurrentLinkedQueue<>();
  private final AtomicReference<@Nullable Runnable> flush = new AtomicReference<>();

  @SuppressWarnings("ThreadLocalUsage") // one of these for an endpoint, and few threads are lent
  private final ThreadLocal<@Nullable Turn> turns = new ThreadLocal<>();

  /// The virtual thread of the call that is carried.
  private volatile @Nullable Thread carried;

  /// When the carrying has begun.
  private volatile long beganNanos;

  /// Turn of a lent thread; confined to that thread.
  private static final class Turn {
    private final ArrayDeque<Runnable> afterCommit = new ArrayDeque<>();
    private boolean isUnderWay;
    private @Nullable UserCall starting;
    private @Nullable Runnable started;
  }

  public HereCalls(BlockingExecutor lender) {
    this.lender = lender;
  }

  /// Whether a call might run on the thread that has read its request: nothing is promised.
  public boolean mayRun() {
    return !lender.equals(BlockingExecutor.NONE)
        && CarriedThreads.areThere()
        && !isHeldUp(System.nanoTime());
  }

  /// Takes a call over whose thread can be carried here.
  ///
  /// @return false: the calling thread is not lent now
  boolean tryStart(UserCall call) {
    if (isHeldUp(System.nanoTime()) || !lender.tryDefer(turn)) {
      return false;
    }
    waiting.add(call);
    return true;
  }

  // ---- the turn ----

  private void turn() {
    Turn mine = turns.get();
    if (mine == null) {
      mine = new Turn();
      turns.set(mine);
    }
    mine.isUnderWay = true;
    try {
      carryWaiting(mine);
      if (flush.get() != null) {
        runEndings();
      }
      flush();
      goOn(mine);
    } finally {
      mine.isUnderWay = false;
      mine.afterCommit.forEach(
          CarriedThreads.usual()::execute); // none, unless the flush has failed
      mine.afterCommit.clear();
    }
    // Work that was handed over since, by calls that go on elsewhere.
    if (flush.get() != null && !lender.tryDefer(turn)) {
      flush();
    }
    tell();
  }

  /// Carries what waits, unless another thread does; that one looks again when it has ended.
  private void carryWaiting(Turn mine) {
    while (!waiting.isEmpty() && busy.compareAndSet(false, true)) {
      beganNanos = System.nanoTime();
      try {
        carryCalls(mine);
      } finally {
        busy.set(false);
      }
    }
  }

  private void carryCalls(Turn mine) {
    for (UserCall call = waiting.poll(); call != null; call = waiting.poll()) {
      if (System.nanoTime() - beganNanos > TURN_NANOS) {
        call.startThread();
        continue;
      }
      mine.starting = call;
      call.startThread();
      mine.starting = null;
      Runnable first = mine.started;
      mine.started = null;
      if (first != null) {
        carry(call, first);
      }
    }
  }

  private void carry(UserCall call, Runnable continuation) {
    long from = System.nanoTime();
    carried = call.runs();
    try {
      continuation.run();
    } finally {
      carried = null;
    }
    call.carried(System.nanoTime() - from);
  }

  /// Calls whose commit has ended.
  private static void goOn(Turn mine) {
    for (Runnable next = mine.afterCommit.poll(); next != null; next = mine.afterCommit.poll()) {
      next.run();
    }
  }

  private void flush() {
    Runnable work = flush.getAndSet(null);
    if (work != null) {
      work.run();
    }
  }

  private void tell() {
    if (!endings.isEmpty()) {
      // With the role again, so that nobody has to be woken for what the callers ask next.
      boolean ignored = lender.unblocked();
      runEndings();
    }
  }

  private void runEndings() {
    for (Runnable ending = endings.poll(); ending != null; ending = endings.poll()) {
      try {
        ending.run();
      } catch (RuntimeException | Error e) {
        LOG.error("the caller of an application could not be told", e);
      }
    }
  }

  /// Chooses the carrier of a virtual thread that has work: its start, or the end of a wait. Any thread.
  ///
  /// @param call whose thread it is, or whose code has started it
  void run(UserCall call, Runnable continuation) {
    if (!call.isOwn(continuation)) {
      CarriedThreads.usual().execute(continuation);
      return;
    }
    Turn mine = Thread.currentThread().isVirtual() ? null : turns.get();
    if (mine != null && mine.isUnderWay && call.equals(mine.starting)) {
      mine.started = continuation;
    } else if (mine != null && mine.isUnderWay && call.isCommitting()) {
      mine.afterCommit.add(continuation);
    } else {
      CarriedThreads.usual().execute(continuation);
    }
  }

  // ---- the calls' threads ----

  private boolean isCarrying(Thread thread) {
    return thread.equals(carried);
  }

  /// Tells the caller of the calling thread's call, after the turn if it is carried by one.
  void end(Runnable ending) {
    Thread self = Thread.currentThread();
    if (!isCarrying(self)) {
      ending.run();
      return;
    }
    endings.add(ending);
    if (!isCarrying(self) && endings.remove(ending)) {
      ending.run();
    }
  }

  @Override
  public boolean tryDefer(Runnable work) {
    Thread self = Thread.currentThread();
    if (!isCarrying(self)) {
      // One turn has room for calls and for the flush of others. While a call holds up a thread,
      // the other one reads requests and does not block.
      if (isHeldUp(System.nanoTime()) || !lender.tryDefer(turn)) {
        return false;
      }
      flush.set(work);
      return true;
    }
    flush.set(work);
    return isCarrying(self) || !flush.compareAndSet(work, null);
  }

  @Override
  public boolean unblocked() {
    return lender.unblocked();
  }

  // ---- the watch ----

  private boolean isHeldUp(long nowNanos) {
    return busy.get() && nowNanos - beganNanos > HELD_UP_NANOS;
  }

  /// Relieves a turn that a call holds up.
  void look(long nowNanos) {
    if (isHeldUp(nowNanos) && holdsSomething()) {
      Thread.ofVirtual().name("kakehashi-application-relief").start(this::relieve);
    }
  }

  private boolean holdsSomething() {
    return !waiting.isEmpty() || !endings.isEmpty() || flush.get() != null;
  }

  private void relieve() {
    for (UserCall call = waiting.poll(); call != null; call = waiting.poll()) {
      call.startThread();
    }
    flush();
    runEndings();
  }
}
