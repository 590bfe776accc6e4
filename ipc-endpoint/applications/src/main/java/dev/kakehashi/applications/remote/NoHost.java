package dev.kakehashi.applications.remote;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;

/// No engine, for a process that only says what its jars define.
final class NoHost implements ApplicationHost {
  private static EngineException refused() {
    return new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED, "define() of an application cannot use the engine");
  }

  @Override
  public byte[] jar(ApplicationDefinition.Jar jar) {
    throw refused();
  }

  @Override
  public DirectTransaction begin(String user, String isolation) {
    throw refused();
  }

  @Override
  public JoinedAccess join(String user, String token) {
    throw refused();
  }

  @Override
  public List<LeasedTask> receive(
      String user, String queue, String group, int max, long leaseMillis, long waitNanos) {
    throw refused();
  }

  @Override
  public void extend(String token, long leaseMillis) {
    throw refused();
  }

  @Override
  public void release(List<String> tokens) {
    throw refused();
  }
}
