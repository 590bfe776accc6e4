package dev.kakehashi.scheduler;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Fences;
import dev.kakehashi.scheduler.process.Event;
import dev.kakehashi.scheduler.process.Events;
import dev.kakehashi.scheduler.process.Pid;
import dev.kakehashi.scheduler.process.Process;
import dev.kakehashi.scheduler.process.ProcessRun;
import dev.kakehashi.scheduler.process.Processes;
import dev.kakehashi.scheduler.process.StepOutput;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/// The protocols on the real memory model, two threads each, millions of times. The code under test is the module's
/// own, without checks and without simulation.
public class ProtocolStress {
  private static final SchedulerConfig CONFIG =
      SchedulerConfig.builder()
          .workers(2)
          .set(SchedulerConfig.Parameter.LOCAL_CAPACITY, 4)
          .set(SchedulerConfig.Parameter.INBOX_CAPACITY, 4)
          .build();

  // Never started: it lends its workers and its job.
  private static final TaskScheduler IDLE = TaskScheduler.unstarted(CONFIG);

  private ProtocolStress() {}

  static Worker lentWorker() {
    return IDLE.workers()[0];
  }

  static Job noJob() {
    return IDLE.jobless();
  }

  /// Both halves of a fence.
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "someone sees")
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "neither sees the other")
  @State
  public static class AsymmetricFences {
    private int x;
    private int y;

    @Actor
    public void often(II_Result r) {
      x = 1;
      Fences.light();
      r.r1 = y;
    }

    @Actor
    public void seldom(II_Result r) {
      y = 1;
      Fences.heavy();
      r.r2 = x;
    }
  }

  /// A submission and a worker that falls asleep.
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the submitter woke the worker")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the worker saw the task")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both")
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "a task beside a sleeping worker")
  @State
  public static class WakeUpBySubmission {
    private final Inbox inbox = new Inbox(4, noJob(), new EventCount(), 0);
    private final Sleepers sleepers = new Sleepers(2, 1, false);
    private final QueueStress.Item item = new QueueStress.Item();

    @Actor
    public void submitter(II_Result r) {
      inbox.offer(item, null);
      r.r1 = sleepers.signal(false) ? 1 : 0;
    }

    @Actor
    public void worker(II_Result r) {
      sleepers.announce(IDLE.workers()[0].sleeper, false);
      r.r2 = inbox.isEmpty() ? 0 : 1;
    }
  }

  /// A spawn and another worker that falls asleep.
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the spawning worker woke the other")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the other saw the task")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both")
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "a task beside a sleeping worker")
  @State
  public static class WakeUpBySpawn {
    private final StealHalfDeque deque = new StealHalfDeque(4, 0);
    private final Sleepers sleepers = new Sleepers(2, 1, false);
    private final QueueStress.Item item = new QueueStress.Item();

    @Actor
    public void spawner(II_Result r) {
      deque.push(item, null);
      r.r1 = sleepers.signal(false) ? 1 : 0;
    }

    @Actor
    public void worker(II_Result r) {
      sleepers.announce(IDLE.workers()[0].sleeper, false);
      r.r2 = deque.size() > 0 ? 1 : 0;
    }
  }

  /// A submission that sees a searcher, and that searcher on its way to work.
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the submitter woke the sleeper")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the searcher saw that there is more")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both")
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "a task beside a sleeping worker")
  @State
  public static class LastSearcher {
    private final Inbox inbox = new Inbox(4, noJob(), new EventCount(), 0);
    private final Sleepers sleepers = new Sleepers(2, 1, false);
    private final QueueStress.Item item = new QueueStress.Item();

    public LastSearcher() {
      sleepers.announce(IDLE.workers()[1].sleeper, false);
      sleepers.startSearching();
    }

    @Actor
    public void submitter(II_Result r) {
      inbox.offer(item, null);
      r.r1 = sleepers.signal(false) ? 1 : 0;
    }

    @Actor
    public void searcher(II_Result r) {
      r.r2 = sleepers.stopSearching() != Sleepers.Left.NOTHING && !inbox.isEmpty() ? 1 : 0;
    }
  }

  /// A submission and a worker that empties the inbox and takes back the flag of those who wait.
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "both taken")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "both taken, the flag is early")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one waits, and the flag says so")
  @Outcome(id = "0, 1", expect = FORBIDDEN, desc = "one waits, and busy workers do not know it")
  @State
  public static class WaitingFlag {
    private final Intake intake = new Intake(CONFIG, new Sleepers(2, 1, false), IDLE.jobless());
    private final Inbox inbox = intake.inboxes()[0];
    private final @Nullable Object[] batch = new @Nullable Object[4];
    private final Counters counters = new Counters();

    public WaitingFlag() {
      intake.offerJobless(inbox, new QueueStress.Item());
    }

    @Actor
    public void submitter() {
      intake.offerJobless(inbox, new QueueStress.Item());
    }

    @Actor
    public void worker() {
      inbox.drain(batch, 1, counters);
      inbox.drain(batch, 1, counters);
      intake.looked();
    }

    @Arbiter
    public void judge(II_Result r) {
      r.r1 = intake.waiting() ? 1 : 0;
      r.r2 = inbox.size();
    }
  }

  /// The last two counts of a job.
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "one ends the job and sees all writes")
  @Outcome(expect = FORBIDDEN, desc = "ended twice, never, or before a task's writes")
  @State
  public static class JobCount {
    private final Job job = JobBuilder.none(IDLE);
    private int x;
    private int y;

    public JobCount() {
      job.addPending(1);
    }

    @Actor
    public void one(II_Result r) {
      x = 1;
      r.r1 = job.returnPending(1) ? (y == 1 ? 1 : 2) : 0;
    }

    @Actor
    public void two(II_Result r) {
      y = 1;
      r.r2 = job.returnPending(1) ? (x == 1 ? 1 : 2) : 0;
    }
  }

  /// A wait and the change that it waits for.
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "seen by the look")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "woken, or not even asleep")
  @Outcome(expect = FORBIDDEN, desc = "slept through the change")
  @State
  public static class EventCountWait {
    private final EventCount events = new EventCount();
    private int change; // plain: the event count orders it

    @Actor
    public void waiter(II_Result r) {
      long key = events.prepare();
      if (change == 1) {
        events.cancel(key);
        r.r1 = 1;
      } else {
        r.r2 = events.await(key, Duration.ofSeconds(5)) && change == 1 ? 1 : 2;
      }
    }

    @Actor
    public void notifier() {
      change = 1;
      events.notifyWaiters();
    }
  }

  /// A permit that is given back, and a task that wants it.
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "one permit in use, queued once")
  @Outcome(expect = FORBIDDEN, desc = "the lane is lost, or queued twice")
  @State
  public static class LanePermit {
    private final TaskScheduler scheduler = TaskScheduler.unstarted(CONFIG);
    private final Lane lane = scheduler.newLane(1);
    private final Job job = JobBuilder.none(scheduler);

    public LanePermit() {
      lane.tryEnter();
    }

    @Actor
    public void submitter() {
      lane.submit(new QueueStress.Item(), job, null);
    }

    @Actor
    public void holder() {
      lane.release(1, null);
    }

    @Arbiter
    public void judge(III_Result r) {
      r.r1 = lane.pending();
      r.r2 = lane.active();
      for (Inbox inbox : scheduler.inboxes()) {
        r.r3 += inbox.size();
      }
    }
  }

  /// Two requests for the last token.
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 0"},
      expect = ACCEPTABLE,
      desc = "one starts")
  @Outcome(expect = FORBIDDEN, desc = "both start, or none")
  @State
  public static class LastToken {
    private final TokenBucket bucket = new TokenBucket(RateLimit.of(1), 0);

    @Actor
    public void one(II_Result r) {
      r.r1 = bucket.tryTake(0) == 0 ? 1 : 0;
    }

    @Actor
    public void two(II_Result r) {
      r.r2 = bucket.tryTake(0) == 0 ? 1 : 0;
    }
  }

  /// An event that arrives while its process makes a step.
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "seen by the step")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "seen by the step, and one more to come")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "for the step to come")
  @Outcome(expect = FORBIDDEN, desc = "lost, or two steps to come")
  @State
  public static class ProcessEvent {
    private final TaskScheduler scheduler = TaskScheduler.unstarted(CONFIG);
    private final Job job = JobBuilder.none(scheduler);
    private int seen;
    private final ProcessRun run =
        new ProcessRun(Processes.of(scheduler), new Pid(0, 0), this::step, "stress", null, null);

    private Process.Step step(Events events, StepOutput output) {
      while (events.poll() != null) {
        seen++;
      }
      return Process.Step.IDLE;
    }

    @Actor
    public void worker() {
      scheduler.workers()[0].execute(run, job, false);
    }

    @Actor
    public void sender() {
      Event event = Event.message(null);
      event.enterQueue();
      run.post(event, 10);
    }

    @Arbiter
    public void judge(II_Result r) {
      r.r1 = seen;
      r.r2 = scheduler.workers()[0].deque.size();
      for (Inbox inbox : scheduler.inboxes()) {
        r.r2 += inbox.size();
      }
    }
  }
}
