package dev.kakehashi.rest.sql;

import dev.kakehashi.rest.job.JobContext;
import dev.kakehashi.rest.job.ResultFile;
import dev.kakehashi.rest.job.StoredAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where a job's answer goes: short ones are kept with the job, longer ones go to one file after the other. One thread. Files that are not
/// published are discarded by the job.
final class JobOutput extends OutputStream {
  private final JobContext job;
  private final AnswerFormat format;
  private final SqlService service;

  /// Until it is too long to be kept with the job.
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream(512);

  private @Nullable ResultFile file;
  private @Nullable OutputStream coded;
  private boolean hasFiles;
  private long rows;

  JobOutput(JobContext job, AnswerFormat format, SqlService service) {
    this.job = job;
    this.format = format;
    this.service = service;
  }

  /// Counts rows of the file that is written.
  void addRows(int count) {
    rows += count;
  }

  /// Rows of the file that is written.
  long rows() {
    return rows;
  }

  /// Whether the next rows belong to another file.
  boolean isFull() {
    return file != null && format.isRows() && file.bytes() >= job.fileBytes();
  }

  /// Ends a file. Its encoder has ended.
  void next() throws IOException {
    publish();
    rows = 0;
  }

  private OutputStream coded() throws IOException {
    OutputStream open = coded;
    if (open == null) {
      // Rows that are coded before they are known to be long would have to be coded again.
      OutputStream to = format.isCoded() ? openFile() : new Spill();
      open = service.coded(format, to);
      coded = open;
    }
    return open;
  }

  private ResultFile openFile() {
    ResultFile open = file;
    if (open == null) {
      open =
          job.open(
              format.contentType().value(),
              format.isCoded() ? format.coding().token() : "",
              format.extension());
      file = open;
      hasFiles = true;
    }
    return open;
  }

  /// To memory first, then to the file.
  private final class Spill extends OutputStream {
    @Override
    public void write(int value) {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      if (file == null && !hasFiles && kept.size() + length <= StoredAnswer.MAX_BODY_BYTES) {
        kept.write(bytes, offset, length);
        return;
      }
      ResultFile open = openFile();
      if (kept.size() > 0) {
        byte[] before = kept.toByteArray();
        kept.reset();
        open.write(before, 0, before.length);
      }
      open.write(bytes, offset, length);
    }
  }

  @Override
  public void write(int value) throws IOException {
    coded().write(value);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    coded().write(bytes, offset, length);
  }

  /// Ends the output: all that was written is whole.
  ///
  /// @param status and `headers` of an answer that is kept with the job
  void finish(int status, List<StoredAnswer.Header> headers) throws IOException {
    if (file == null && !hasFiles) {
      StoredAnswer answer =
          new StoredAnswer(status, headers, format.contentType().value(), kept.toByteArray());
      if (job.answer(answer)) {
        return;
      }
      byte[] before = kept.toByteArray();
      openFile().write(before, 0, before.length);
    }
    publish();
  }

  private void publish() throws IOException {
    if (coded != null) {
      coded.close();
      coded = null;
    }
    ResultFile written = file;
    if (written != null) {
      written.addRows(format.isRows() ? rows : -1);
      written.publish();
      file = null;
    }
  }
}
