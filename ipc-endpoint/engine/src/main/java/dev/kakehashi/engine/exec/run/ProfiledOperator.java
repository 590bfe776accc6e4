package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// An operator whose calls are measured, those of the operators below it with them.
public final class ProfiledOperator extends Operator {
  private final Operator operator;
  private final PlanProfile.Node profile;

  ProfiledOperator(Operator operator, PlanProfile.Node profile) {
    this.operator = operator;
    this.profile = profile;
  }

  @Override
  public void expectRows(long rows) {
    operator.expectRows(rows);
  }

  @Override
  public void open() {
    profile.loops.increment();
    long began = System.nanoTime();
    operator.open();
    profile.nanos.add(System.nanoTime() - began);
  }

  @Override
  public @Nullable VectorBatch next() {
    long began = System.nanoTime();
    VectorBatch batch = operator.next();
    profile.nanos.add(System.nanoTime() - began);
    if (batch != null) {
      profile.rows.add(batch.liveRows());
    }
    return batch;
  }

  @Override
  public void close() {
    operator.close();
  }
}
