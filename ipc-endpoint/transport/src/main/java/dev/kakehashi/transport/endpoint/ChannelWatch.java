package dev.kakehashi.transport.endpoint;

/// Remembers channels that somebody has to look at again.
interface ChannelWatch {
  /// Producers of the channel wait for released batches or for free buffers.
  void watchWritable(ResponseChannel channel);

  /// The response is finished, but the client has not released all its batches.
  void watchDrained(ResponseChannel channel);
}
