package dev.kakehashi.rest.job;

import java.io.IOException;
import java.nio.channels.FileChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file that is read. One thread at a time.
final class HeldFile implements FileHold {
  private static final Logger LOG = LoggerFactory.getLogger(HeldFile.class);

  private final JobFile file;
  private final FileChannel channel;
  private final long modifiedMillis;
  private final Runnable release;
  private boolean isClosed;

  /// @param release called once, when it is closed
  HeldFile(JobFile file, FileChannel channel, long modifiedMillis, Runnable release) {
    this.file = file;
    this.channel = channel;
    this.modifiedMillis = modifiedMillis;
    this.release = release;
  }

  @Override
  public JobFile file() {
    return file;
  }

  @Override
  public FileChannel channel() {
    return channel;
  }

  @Override
  public long modifiedMillis() {
    return modifiedMillis;
  }

  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("a file of a result could not be closed", e);
    }
    release.run();
  }
}
