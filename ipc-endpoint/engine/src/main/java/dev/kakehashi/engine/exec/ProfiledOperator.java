package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// An operator whose calls are measured, those of the operators below it with them.
final class ProfiledOperator extends Operator {
  private final Operator operator;
  private final PlanProfile.Node profile;

  ProfiledOperator(Operator operator, PlanProfile.Node profile) {
    this.operator = operator;
    this.profile = profile;
  }

  @Override
  void expectRows(long rows) {
    operator.expectRows(rows);
  }

  @Override
  void open() {
    profile.loops.increment();
    long began = System.nanoTime();
    operator.open();
    profile.nanos.add(System.nanoTime() - began);
  }

  @Override
  @Nullable VectorBatch next() {
    long began = System.nanoTime();
    VectorBatch batch = operator.next();
    profile.nanos.add(System.nanoTime() - began);
    if (batch != null) {
      profile.rows.add(batch.liveRows());
    }
    return batch;
  }

  @Override
  void close() {
    operator.close();
  }
}
