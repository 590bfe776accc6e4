package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A statement's use of functions in a process. The process keeps states and cursors under the number of the use until it ends.
final class RemoteUse implements LoadedApplication.Use {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteUse.class);
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final RemoteApplication application;
  private final long number = NUMBERS.incrementAndGet();
  private final AtomicBoolean open = new AtomicBoolean(true);
  private volatile @Nullable OwnProcess keeper;

  RemoteUse(RemoteApplication application) {
    this.application = application;
  }

  private FunctionSignature signature(int index) {
    return application.contents().functions().get(index);
  }

  @Override
  public LoadedApplication.ScalarCode scalar(int index) {
    return new RemoteScalar(application, signature(index), index);
  }

  @Override
  public LoadedApplication.TableCode table(int index) {
    return arguments -> new Cursor(index, arguments);
  }

  @Override
  public LoadedApplication.AggregateCode aggregate(int index) {
    return new RemoteAggregate(this, index);
  }

  @Override
  public void close() {
    if (!open.compareAndSet(true, false)) {
      return;
    }
    try {
      OwnProcess process = keeper;
      if (process != null && !process.isDead()) {
        LinkLane lane = process.acquire();
        try {
          lane.send(new MessageWriter().begin(LinkKind.END_USE).putLong(number));
          lane.await(-1);
        } finally {
          process.release(lane);
        }
      }
    } catch (EngineException | LinkLane.ShutException e) {
      LOG.debug("the process of {} has ended before a use of it", application.name(), e);
    } finally {
      application.leave();
    }
  }

  /// Asks the one process that has the states of this use.
  ///
  /// @throws EngineException CONNECTION_FAILURE if it has ended since
  void ask(MessageWriter request, MessageReader reply, int index) {
    RemoteApplication.Attached attached = attach();
    try (attached) {
      attached.lane().send(request);
      application.reply(attached, reply, signature(index).name());
    } catch (LinkLane.ShutException e) {
      throw attached.process().gone();
    }
  }

  private RemoteApplication.Attached attach() {
    OwnProcess kept;
    synchronized (this) {
      kept = keeper;
      if (kept == null) {
        kept = application.process();
        keeper = kept;
      }
    }
    return new RemoteApplication.Attached(kept, kept.acquire());
  }

  long number() {
    return number;
  }

  /// Rows of a table function, a piece at a time.
  private final class Cursor implements Iterator<@Nullable Object[]> {
    private final int index;
    private final MessageWriter request = new MessageWriter();
    private final MessageReader reply = new MessageReader();
    private final long cursor;
    private List<@Nullable Object[]> rows = new ArrayList<>();
    private int at;
    private boolean more;

    Cursor(int index, @Nullable Object[] arguments) {
      this.index = index;
      ask(
          request.begin(LinkKind.TABLE_OPEN).putLong(number).putInt(index).putValues(arguments),
          reply,
          index);
      cursor = reply.getLong();
      take();
    }

    private void take() {
      rows = reply.getList(MessageReader::getValues);
      more = reply.getBoolean();
      at = 0;
    }

    @Override
    public boolean hasNext() {
      while (at == rows.size() && more) {
        ask(request.begin(LinkKind.TABLE_NEXT).putLong(number).putLong(cursor), reply, index);
        take();
      }
      return at < rows.size();
    }

    @Override
    public @Nullable Object[] next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return rows.get(at++);
    }
  }
}
