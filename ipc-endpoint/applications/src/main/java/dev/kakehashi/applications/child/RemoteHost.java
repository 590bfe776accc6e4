package dev.kakehashi.applications.child;

import dev.kakehashi.applications.link.ContentsCodec;
import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.LinkMemory;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/// The engine, on the other side of the process' own lanes. Thread-safe. A transaction has a lane until it ends.
final class RemoteHost implements ApplicationHost {
  private static final int REQUESTS = 1;
  private static final int FIRST_LANE = LinkMemory.LANES / 2;

  private final LinkMemory memory;
  private final HostLane requests;
  private final ConcurrentLinkedDeque<HostLane> free = new ConcurrentLinkedDeque<>();
  private final Map<String, byte[]> jars = new HashMap<>();
  private int next = FIRST_LANE;

  RemoteHost(LinkMemory memory) {
    this.memory = memory;
    this.requests = new HostLane(memory.lane(REQUESTS, LinkLane.Side.PROCESS));
  }

  private HostLane acquire() {
    HostLane lane = free.pollFirst();
    return lane == null ? open() : lane;
  }

  private HostLane open() {
    int number;
    synchronized (this) {
      number = next;
      if (number == LinkMemory.LANES) {
        throw new EngineException(
            ErrorCode.OUT_OF_SLOTS, "too many transactions of the application at a time");
      }
      next++;
    }
    requests.tell(LinkKind.OPEN, to -> to.putInt(number));
    return new HostLane(memory.lane(number, LinkLane.Side.PROCESS));
  }

  private void release(HostLane lane) {
    free.addFirst(lane);
  }

  /// The jars that [#jar] gives, by the order of the definition.
  void setJars(ApplicationDefinition definition, List<JarContent> contents) {
    for (int i = 0; i < contents.size(); i++) {
      jars.put(definition.version().jars().get(i).sha256(), contents.get(i).bytes());
    }
  }

  @Override
  public byte[] jar(ApplicationDefinition.Jar jar) {
    byte[] bytes = jars.get(jar.sha256());
    if (bytes == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "the process has no jar \"" + jar.name() + "\"");
    }
    return bytes.clone();
  }

  @Override
  public DirectTransaction begin(String user, String isolation) {
    return entered(LinkKind.BEGIN, user, isolation);
  }

  @Override
  public JoinedAccess join(String user, String token) {
    return entered(LinkKind.JOIN, user, token);
  }

  private RemoteAccess entered(byte kind, String user, String what) {
    HostLane lane = acquire();
    try {
      lane.tell(kind, to -> to.putText(user).putText(what));
    } catch (EngineException e) {
      release(lane);
      throw e;
    }
    return new RemoteAccess(this, lane, this::release);
  }

  /// A caller's transaction, on the lane of its call.
  DirectAccess access(HostLane call) {
    return new RemoteAccess(this, call, lane -> {});
  }

  void cancel(int lane) {
    requests.tell(LinkKind.CANCEL_ACCESS, to -> to.putInt(lane));
  }

  @Override
  public List<LeasedTask> receive(
      String user, String queue, String group, int max, long leaseMillis, long waitNanos)
      throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    HostLane lane = acquire();
    try {
      return lane.ask(
          LinkKind.RECEIVE,
          to ->
              to.putText(user)
                  .putText(queue)
                  .putText(group)
                  .putInt(max)
                  .putLong(leaseMillis)
                  .putLong(Math.min(waitNanos, 1_000_000_000L)),
          from -> from.getList(ContentsCodec::leasedTask));
    } finally {
      release(lane);
    }
  }

  @Override
  public void extend(String token, long leaseMillis) {
    HostLane lane = acquire();
    try {
      lane.tell(LinkKind.EXTEND, to -> to.putText(token).putLong(leaseMillis));
    } finally {
      release(lane);
    }
  }

  @Override
  public void release(List<String> tokens) {
    HostLane lane = acquire();
    try {
      lane.tell(LinkKind.RELEASE, to -> to.putTexts(tokens));
    } finally {
      release(lane);
    }
  }

  void logged(long call, String line) {
    requests.tell(LinkKind.LOGGED, to -> to.putLong(call).putText(line));
  }

  void failed(String member, long call, String sqlstate, @Nullable String message, String stack) {
    requests.tell(
        LinkKind.FAILURE,
        to ->
            to.putText(member)
                .putLong(call)
                .putText(sqlstate)
                .putText(String.valueOf(message))
                .putText(stack));
  }
}
