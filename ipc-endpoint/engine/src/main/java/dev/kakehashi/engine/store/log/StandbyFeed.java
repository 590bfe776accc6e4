package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogRequest;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The stream of the log to one standby: batch after batch, each as soon as there is something and the one before is acknowledged. Groups
/// that become durable meanwhile are the next batch, so a standby that is slow gets larger ones, and forces them together.
///
/// One thread runs it; acknowledgements may come on any other one, one at a time. [LogFeeds] guards where the standby is.
final class StandbyFeed implements LogFeed {
  private static final Logger LOG = LoggerFactory.getLogger(StandbyFeed.class);

  private final LogFeeds feeds;
  private final LogBatches batches;
  private final LogRequest request;

  /// Up to where batches have been sent. Used by the thread that runs it.
  private long sent;

  /// The part of an acknowledgement that has come. Used by the thread on which they come.
  private final ByteBuffer coming = ByteBuffer.allocate(LogBatches.ACKNOWLEDGEMENT_BYTES);

  /// @param at position behind which the standby lacks the log
  StandbyFeed(LogFeeds feeds, LogBatches batches, LogRequest request, long at) {
    this.feeds = feeds;
    this.batches = batches;
    this.request = request;
    this.sent = at;
  }

  String standby() {
    return request.standby();
  }

  String machine() {
    return request.machine();
  }

  @Override
  public void run(OutputStream to) throws IOException, InterruptedException {
    DataOutputStream out = new DataOutputStream(to);
    out.writeLong(LogBatches.MAGIC);
    try {
      while (feeds.awaitTurn(this, sent)) {
        sent = batches.write(standby(), sent, feeds.durable(), feeds.afterApplied(standby()), out);
        feeds.sent(this);
      }
      LOG.debug("the stream to standby \"{}\" ends", standby());
    } finally {
      close();
    }
  }

  @Override
  public void received(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      coming.put(bytes.get());
      if (!coming.hasRemaining()) {
        coming.flip();
        byte kind = coming.get();
        long position = coming.getLong();
        long applied = coming.getLong();
        coming.clear();
        if (kind != LogBatches.ACKNOWLEDGED) {
          throw new IOException("what standby \"%s\" sends is damaged".formatted(standby()));
        }
        feeds.acknowledged(this, position, applied);
      }
    }
  }

  @Override
  public void close() {
    feeds.closed(this);
  }
}
