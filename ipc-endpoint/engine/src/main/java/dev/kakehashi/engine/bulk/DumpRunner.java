package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.bulk.DumpRequest.DumpControl;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Runs COPY TO: the plan of its rows with files in the place of the client, who gets a row for each file, or the bytes of the one file in
/// rows.
///
/// The files get their names when all rows are in them, and then stay, whatever becomes of the transaction: they show what it saw.
public final class DumpRunner implements PlanRunner {
  private static final int[] RESULT_OIDS = {TypeOid.TEXT, TypeOid.INT8, TypeOid.INT8, TypeOid.TEXT};

  private final Prepared.Dump dump;
  private final PlanRunner rows;

  public DumpRunner(Prepared.Dump dump) {
    this.dump = dump;
    this.rows =
        PlanRunner.of(
            dump.query().plan(), dump.query().parameterOids(), dump.request().control().workers());
  }

  @Override
  public int workLevel(StatementScope scope) {
    return HEAVIEST;
  }

  @Override
  public Task execute(
      StatementScope scope,
      ParameterBatch parameters,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return new Run(scope, parameters, sink, done);
  }

  private static PlanNode.Values rows(List<DumpTarget.DumpedFile> files) {
    List<List<Expr>> rows = new ArrayList<>();
    for (DumpTarget.DumpedFile file : files) {
      rows.add(
          List.of(
              text(file.file()),
              Expr.Constant.of(TypeOid.INT8, file.rows()),
              Expr.Constant.of(TypeOid.INT8, file.bytes()),
              text(file.digest())));
    }
    return new PlanNode.Values(rows, RESULT_OIDS.clone());
  }

  private static Expr text(String value) {
    Constant constant = Constant.ofText(TypeOid.TEXT, value);
    return new Expr.Constant(TypeOid.TEXT, false, constant.word(), constant.memory());
  }

  /// One execution. Owned by the first task, then by the end of the plan, then by the task that ends the files.
  private final class Run implements Task {
    private final StatementScope scope;
    private final ParameterBatch parameters;
    private final ResultSink sink;
    private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
    private @Nullable DumpTarget target;
    private @Nullable DumpOutput output;
    private @Nullable DumpStream stream;

    Run(
        StatementScope scope,
        ParameterBatch parameters,
        ResultSink sink,
        BiConsumer<@Nullable Long, @Nullable EngineException> done) {
      this.scope = scope;
      this.parameters = parameters;
      this.sink = sink;
      this.done = done;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Interrupts.Source before = Interrupts.enter(scope);
      try {
        scope.checkCanceled();
        DumpOutput rowsTo = open();
        TaskScheduler scheduler = context.scheduler();
        return rows.execute(
            scope, parameters, rowsTo, (_, failure) -> rowsEnded(scheduler, rowsTo, failure));
      } catch (Throwable failed) {
        fail(failed);
        return null;
      } finally {
        Interrupts.leave(before);
      }
    }

    private DumpOutput open() {
      StatementFiles context =
          StatementFiles.of(scope, scope.memoryLimitBytes(), scope.tempSpace());
      DumpStream bytes = dump.toClient() ? new DumpStream(sink, context) : null;
      DumpTarget files =
          dump.request()
              .open(
                  dump.loadColumns(),
                  dump.text(),
                  scope.files().user(),
                  context,
                  bytes == null ? Run::refuse : bytes);
      target = files;
      DumpControl control = dump.request().control();
      DumpOutput opened =
          new DumpOutput(
              files,
              context,
              files.isParallel() && !control.isOrdered(),
              bytes,
              scope.memoryLimitBytes());
      output = opened;
      scope.copying(opened);
      stream = bytes;
      return opened;
    }

    /// Refuses bytes for the client when the rows go to files.
    private static void refuse(byte[] bytes, int from, int count) {
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR, "%d bytes of a file for the client".formatted(count));
    }

    private void rowsEnded(
        TaskScheduler scheduler, DumpOutput rowsTo, @Nullable EngineException failure) {
      if (failure != null) {
        fail(failure);
        return;
      }
      try {
        scheduler
            .job("files of COPY TO")
            .attachment(scope)
            .submit(new Ending(this, rowsTo, scheduler));
      } catch (Throwable stopped) {
        fail(stopped);
      }
    }

    void fail(Throwable failed) {
      EngineException failure = RunFailures.report(failed);
      try {
        close();
      } catch (Throwable onClose) {
        if (!onClose.equals(failure)) {
          failure.addSuppressed(onClose);
        }
      }
      done.accept(null, failure);
    }

    private void close() {
      DumpOutput memory = output;
      DumpTarget files = target;
      output = null;
      target = null;
      try {
        if (memory != null) {
          memory.close();
        }
      } finally {
        if (files != null) {
          files.close();
        }
      }
    }

    @Override
    public void discarded(Job job) {
      fail(RunFailures.canceled());
    }
  }

  /// After the last row: the rest of the rows, the files' ends, and what the client is told. Waits for the client where it takes bytes.
  private static final class Ending implements Task {
    private final Run run;
    private final DumpOutput output;
    private final Condition room;
    private final AtomicReference<@Nullable Throwable> closeFailure = new AtomicReference<>();
    private final AtomicInteger open = new AtomicInteger();
    private boolean hooked;
    private boolean closing;
    private boolean finished;

    Ending(Run run, DumpOutput output, TaskScheduler scheduler) {
      this.run = run;
      this.output = output;
      this.room = scheduler.condition();
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Interrupts.Source before = Interrupts.enter(run.scope);
      try {
        return step(context);
      } catch (Throwable failed) {
        run.fail(failed);
        return null;
      } finally {
        Interrupts.leave(before);
      }
    }

    private @Nullable Task step(TaskContext context) {
      run.scope.checkCanceled();
      DumpStream stream = run.stream;
      if (!finished) {
        if (!output.drain()) {
          return stream == null || stream.flush() ? context.resubmit(this) : await(stream, context);
        }
        if (!closing) {
          closing = true;
          return closeWriters(context);
        }
        List<DumpTarget.DumpedFile> files = target().finish();
        finished = true;
        if (stream == null) {
          run.close();
          PhysicalPlan told = new PhysicalPlan.Query(DumpRunner.rows(files));
          return PlanRunner.of(told, new int[0])
              .execute(run.scope, ParameterBatch.NONE, run.sink, run.done);
        }
      }
      if (stream != null && !stream.end()) {
        return await(stream, context);
      }
      run.close();
      run.done.accept(stream == null ? 0 : stream.rows(), null);
      return null;
    }

    /// Each writer is closed by a task, since what it has left may be a row group.
    private Task closeWriters(TaskContext context) {
      List<Closing> tasks = output.writers().stream().map(Closing::new).toList();
      open.set(tasks.size());
      context.spawnAll(tasks.subList(1, tasks.size()));
      return tasks.getFirst();
    }

    /// Closes one writer; the last of these tasks goes on with the files.
    private final class Closing implements Task {
      private final DumpTarget.Writer writer;

      Closing(DumpTarget.Writer writer) {
        this.writer = writer;
      }

      @Override
      public @Nullable Task run(TaskContext context) {
        Interrupts.Source before = Interrupts.enter(run.scope);
        try {
          run.scope.checkCanceled();
          writer.close();
        } catch (Throwable failed) {
          closeFailure.compareAndSet(null, failed);
        } finally {
          Interrupts.leave(before);
        }
        return closed();
      }

      private @Nullable Task closed() {
        if (open.decrementAndGet() > 0) {
          return null;
        }
        Throwable failure = closeFailure.get();
        if (failure != null) {
          run.fail(failure);
          return null;
        }
        return Ending.this;
      }

      @Override
      public void discarded(Job job) {
        closeFailure.compareAndSet(null, RunFailures.canceled());
        Task ignored = closed();
      }
    }

    private DumpTarget target() {
      DumpTarget target = run.target;
      if (target == null) {
        throw new IllegalStateException("the dump is closed");
      }
      return target;
    }

    private @Nullable Task await(DumpStream stream, TaskContext context) {
      if (!hooked) {
        hooked = true;
        run.scope.onCancel(room::signal);
      }
      stream.whenWritable(room::signal);
      return context.await(room, this);
    }

    @Override
    public void discarded(Job job) {
      run.fail(RunFailures.canceled());
    }
  }
}
