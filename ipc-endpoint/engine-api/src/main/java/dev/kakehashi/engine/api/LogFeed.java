package dev.kakehashi.engine.api;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/// The log on its way to a standby, over a connection of which this knows nothing. The owner of the connection runs it on one thread,
/// and gives it what the standby sends, from any thread, one at a time.
public interface LogFeed extends AutoCloseable {
  /// Sends the log as it comes, until it is closed, or the standby follows over another connection. Blocks.
  ///
  /// @param to the standby
  /// @throws IOException if the standby does not take it, or does not say for long that it has it
  /// @throws dev.kakehashi.engine.api.error.EngineException NOT_IN_PREREQUISITE_STATE if the log does not have what comes next
  void run(OutputStream to) throws IOException, InterruptedException;

  /// Takes bytes that the standby has sent. Does not block.
  ///
  /// @throws IOException if they are damaged
  void received(ByteBuffer bytes) throws IOException;

  /// Ends it, from any thread. More than once has no effect.
  @Override
  void close();
}
