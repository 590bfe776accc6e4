package dev.kakehashi.applications.child;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.application.LoadedApplication.Invocation;
import dev.kakehashi.engine.api.application.LoadedApplication.Running;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// One call of a procedure or route: what it asks, its rows and its end go by its lane. [#cancel] by any thread.
final class ProcedureCall implements LoadedApplication.Listener {
  private static final int PIECE_BYTES = 32 << 10;

  private final LoadedApplication application;
  private final HostLane lane;
  private final long number;
  private final boolean route;
  private final int index;
  private final Invocation invocation;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final MessageWriter rows = new MessageWriter();
  private boolean anyRows;
  private volatile boolean canceled;
  private volatile @Nullable Running running;

  ProcedureCall(
      LoadedApplication application, LinkLane lane, RemoteHost host, MessageReader request) {
    this.application = application;
    this.lane = new HostLane(lane);
    this.number = request.getLong();
    this.route = request.get() != 0;
    this.index = request.getInt();
    boolean hasAccess = request.getBoolean();
    String user = request.getText();
    long timeLimit = request.getLong();
    this.invocation =
        new Invocation(
            request.getValues(), user, hasAccess ? host.access(this.lane) : null, timeLimit);
  }

  long number() {
    return number;
  }

  /// Runs it; the lane is free for the next one when this returns.
  void run() throws InterruptedException {
    try {
      Running begun =
          route
              ? application.route(index, invocation, this)
              : application.procedure(index, invocation, this);
      running = begun;
      if (canceled) {
        begun.cancel();
      }
    } catch (EngineException e) {
      failed(e);
    }
    ended.await();
  }

  void cancel() {
    canceled = true;
    Running begun = running;
    if (begun != null) {
      begun.cancel();
    }
  }

  @Override
  public void row(@Nullable Object[] values) {
    if (!anyRows) {
      rows.begin(LinkKind.ROWS);
      anyRows = true;
    }
    rows.put(true).putValues(values);
    if (rows.length() >= PIECE_BYTES) {
      flush();
    }
  }

  private void flush() {
    anyRows = false;
    if (!lane.give(rows.put(false))) {
      throw new EngineException(ErrorCode.QUERY_CANCELED, "the caller wants no more rows");
    }
  }

  @Override
  public void done() {
    try {
      if (anyRows) {
        flush();
      }
      end(new MessageWriter().begin(LinkKind.DONE));
    } catch (EngineException e) {
      failed(e);
    }
  }

  @Override
  public void failed(EngineException reason) {
    end(new MessageWriter().begin(LinkKind.FAILED).putFailure(reason));
  }

  private void end(MessageWriter message) {
    if (lane.end(message)) {
      ended.countDown();
    }
  }
}
