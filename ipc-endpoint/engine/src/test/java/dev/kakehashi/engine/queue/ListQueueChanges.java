package dev.kakehashi.engine.queue;

import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.queue.ListChange.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Changes of [ListQueues], as a list. It insists on its life: whoever calls it out of turn fails.
final class ListQueueChanges implements QueueChanges {
  private enum Life {
    OPEN,
    READY,
    PLACED,
    ENDED
  }

  private record Step(ListChange change, @Nullable LeaseToken token) {}

  private final ListQueues system;
  private final List<Step> steps = new ArrayList<>();
  private final Set<ListQueues.Place> holding = new HashSet<>();
  private Life life = Life.OPEN;

  ListQueueChanges(ListQueues system) {
    this.system = system;
  }

  /// Takes over what an earlier run has prepared.
  void recover(ByteBuffer in) {
    for (int count = in.getInt(); count > 0; count--) {
      ListChange change = ListChange.read(in);
      steps.add(new Step(change, null));
      if (change.kind() == Kind.COMPLETE) {
        ListQueues.Place place = new ListQueues.Place(change.queueId(), change.position());
        holding.add(place);
        system.hold(place);
      }
    }
    life = Life.READY;
  }

  private synchronized void require(Life... lives) {
    if (!Arrays.asList(lives).contains(life)) {
      throw new IllegalStateException("not when it is " + life);
    }
  }

  private synchronized void add(ListChange change, @Nullable LeaseToken token) {
    require(Life.OPEN);
    steps.add(new Step(change, token));
  }

  void claim(long queueId, long position, int attempt) {
    add(ListChange.of(Kind.CLAIM, queueId, position, attempt), null);
  }

  @Override
  public long enqueue(long queueId, NewTask task) {
    long taskId = system.newTask(queueId);
    add(new ListChange(Kind.ENQUEUE, queueId, 0, taskId, task.payload().bytes()), null);
    return taskId;
  }

  @Override
  public void complete(LeaseToken token) {
    system.requireLease(token);
    add(ListChange.of(Kind.COMPLETE, token.queueId(), token.position(), 0), token);
  }

  @Override
  public void fail(LeaseToken token, String error, long retryMillis) {
    release(token);
  }

  @Override
  public void failForGood(LeaseToken token, String error) {
    throw ofRealQueues();
  }

  @Override
  public void requirePushTarget(String url) {
    // A list is pushed nowhere.
  }

  @Override
  public void release(LeaseToken token) {
    system.requireLease(token);
    add(ListChange.of(Kind.RELEASE, token.queueId(), token.position(), 0), token);
  }

  @Override
  public boolean cancel(long queueId, long taskId) {
    throw ofRealQueues();
  }

  @Override
  public void createQueue(long queueId) {
    add(ListChange.of(Kind.CREATE, queueId, 0, 0), null);
  }

  @Override
  public void dropQueue(long queueId) {
    add(ListChange.of(Kind.DROP, queueId, 0, 0), null);
  }

  @Override
  public void createGroup(long queueId, long groupId, boolean first) {
    throw ofRealQueues();
  }

  @Override
  public void dropGroup(long queueId, long groupId) {
    throw ofRealQueues();
  }

  @Override
  public void purge(long queueId, boolean deadOnly) {
    throw ofRealQueues();
  }

  @Override
  public long move(
      long queueId, long toQueueId, boolean dead, long max, @Nullable String error, double rate) {
    throw ofRealQueues();
  }

  @Override
  public synchronized long mark() {
    return steps.size();
  }

  @Override
  public synchronized void rollbackTo(long mark) {
    require(Life.OPEN);
    if (mark > steps.size()) {
      throw new IllegalArgumentException("no such mark: " + mark);
    }
    steps.subList((int) mark, steps.size()).clear();
  }

  @Override
  public synchronized void prepareCommit() {
    require(Life.OPEN);
    for (Step step : steps) {
      LeaseToken token = step.token();
      if (token != null) {
        system.hold(token);
        holding.add(new ListQueues.Place(token.queueId(), token.position()));
      }
    }
    life = Life.READY;
  }

  @Override
  public synchronized int encodedBytes() {
    require(Life.READY);
    return Integer.BYTES + steps.stream().mapToInt(step -> step.change().bytes()).sum();
  }

  @Override
  public synchronized void encode(byte[] into, int offset) {
    require(Life.READY);
    ByteBuffer out = ByteBuffer.wrap(into, offset, into.length - offset).putInt(steps.size());
    steps.forEach(step -> step.change().write(out));
  }

  @Override
  public synchronized void place(byte[] bytes, int offset, long record) {
    require(Life.READY);
    int length = encodedBytes();
    ByteBuffer out = ByteBuffer.wrap(bytes, offset, length);
    if (out.getInt() != steps.size()) {
      throw new IllegalStateException("this is not what was encoded");
    }
    for (Step step : steps) {
      ListChange change = step.change();
      boolean isNew = change.kind() == Kind.ENQUEUE;
      (isNew ? change.at(system.takePosition(change.queueId())) : change).write(out);
    }
    system.placed(record, Arrays.copyOfRange(bytes, offset, offset + length));
    life = Life.PLACED;
  }

  @Override
  public void ended(boolean committed) {
    synchronized (this) {
      require(committed ? new Life[] {Life.PLACED} : new Life[] {Life.OPEN, Life.READY});
      life = Life.ENDED;
    }
    system.ended(committed, holding);
  }

  /// Refusal of requests that no test of the engine makes to lists: the server's tests make them to the real queues.
  private static UnsupportedOperationException ofRealQueues() {
    return new UnsupportedOperationException("lists do not have that");
  }
}
