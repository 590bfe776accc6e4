package dev.kakehashi.tck.refusing;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capability;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A statement that its engine runs only where it can.
final class RefusingStatement implements Statement {
  private static final Execution ENDED =
      new Execution() {
        @Override
        public void cancel() {}

        @Override
        public long rowsScanned() {
          return 0;
        }
      };

  private final RefusingSession session;
  private final Statement behind;

  RefusingStatement(RefusingSession session, Statement behind) {
    this.session = session;
    this.behind = behind;
  }

  @Override
  public Kind kind() {
    return behind.kind();
  }

  @Override
  public String sql() {
    return behind.sql();
  }

  @Override
  public int[] parameterTypeOids() {
    return behind.parameterTypeOids();
  }

  @Override
  public List<Column> columns() {
    return behind.columns();
  }

  @Override
  public BeginOptions ownTransaction(BeginOptions asked) {
    return behind.ownTransaction(asked);
  }

  @Override
  public Execution execute(
      EngineTransaction transaction,
      ParameterBatch parameters,
      ExecuteOptions options,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    RefusingTransaction within = (RefusingTransaction) transaction;
    Capability lacking = lacking(within, options);
    if (lacking != null) {
      done.accept(null, session.engine().lacking(lacking));
      return ENDED;
    }
    return behind.execute(within.behind(), parameters, options, sink, done);
  }

  private @Nullable Capability lacking(RefusingTransaction within, ExecuteOptions options) {
    RefusingEngine engine = session.engine();
    if (options.command() != 0 && !engine.capabilities().has(Capability.COMMANDS)) {
      return Capability.COMMANDS;
    }
    if (!within.isUsedBy(session) && !engine.capabilities().has(Capability.SHARED_TRANSACTIONS)) {
      return Capability.SHARED_TRANSACTIONS;
    }
    boolean inBlock = !within.isOfOneStatement();
    return kind() == Kind.DDL
            && inBlock
            && !engine.capabilities().has(Capability.DDL_IN_TRANSACTION)
        ? Capability.DDL_IN_TRANSACTION
        : null;
  }
}
