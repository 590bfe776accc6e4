package dev.kakehashi.rest.job;

import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Bytes of the journal's records: kind (1 byte), then the fields in their order, big endian; texts as length (4 bytes) and UTF-8. A kind
/// whose fields change gets a new number.
final class RecordCodec {
  /// One record.
  sealed interface Entry {
    record JobKept(JobRecord job) implements Entry {}

    record JobRemoved(String token) implements Entry {}

    record KeyKept(KeyRecord key) implements Entry {}

    record KeyRemoved(Hash id) implements Entry {}

    /// A result was read.
    record JobRead(String token, long millis) implements Entry {}
  }

  private static final int JOB_KEPT = 1;
  private static final int JOB_REMOVED = 2;
  private static final int KEY_KEPT = 3;
  private static final int KEY_REMOVED = 4;
  private static final int JOB_READ = 5;
  private static final int JOB_WITH_LOAD_KEPT = 6; // as JOB_KEPT, with the load behind it

  private static final Map<Integer, ErrorCode> CODES = new HashMap<>();

  static {
    for (ErrorCode code : ErrorCode.values()) {
      CODES.put(code.number(), code);
    }
  }

  private RecordCodec() {}

  static byte[] encode(Entry entry) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      switch (entry) {
        case Entry.JobKept kept -> {
          @Nullable String load = kept.job().load();
          out.writeByte(load == null ? JOB_KEPT : JOB_WITH_LOAD_KEPT);
          writeJob(out, kept.job());
          if (load != null) {
            write(out, load);
          }
        }
        case Entry.JobRemoved removed -> {
          out.writeByte(JOB_REMOVED);
          write(out, removed.token());
        }
        case Entry.KeyKept kept -> {
          out.writeByte(KEY_KEPT);
          writeKey(out, kept.key());
        }
        case Entry.KeyRemoved removed -> {
          out.writeByte(KEY_REMOVED);
          write(out, removed.id());
        }
        case Entry.JobRead read -> {
          out.writeByte(JOB_READ);
          write(out, read.token());
          out.writeLong(read.millis());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    return bytes.toByteArray();
  }

  /// @throws IOException if the bytes are none of a record
  static Entry decode(byte[] bytes) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    int kind = in.readByte();
    return switch (kind) {
      case JOB_KEPT -> new Entry.JobKept(readJob(in));
      case JOB_WITH_LOAD_KEPT -> new Entry.JobKept(readJob(in).ofLoad(readText(in)));
      case JOB_REMOVED -> new Entry.JobRemoved(readText(in));
      case KEY_KEPT -> new Entry.KeyKept(readKey(in));
      case KEY_REMOVED -> new Entry.KeyRemoved(readHash(in));
      case JOB_READ -> new Entry.JobRead(readText(in), in.readLong());
      default -> throw new IOException("a record of the unknown kind " + kind);
    };
  }

  private static void writeJob(DataOutputStream out, JobRecord job) throws IOException {
    write(out, job.token());
    write(out, job.owner());
    write(out, job.text());
    out.writeByte(job.state().number());
    out.writeByte(job.result().number());
    out.writeLong(job.createdMillis());
    out.writeLong(job.startedMillis());
    out.writeLong(job.endedMillis());
    out.writeLong(job.readMillis());
    out.writeLong(job.rowsScanned());
    out.writeLong(job.rows());
    out.writeLong(job.bytes());
    JobFailure failure = job.failure();
    out.writeBoolean(failure != null);
    if (failure != null) {
      writeFailure(out, failure);
    }
    write(out, job.transaction());
    out.writeInt(job.files().size());
    for (JobFile file : job.files()) {
      out.writeLong(file.id());
      write(out, file.name());
      write(out, file.mediaType());
      write(out, file.coding());
      out.writeLong(file.rows());
      out.writeLong(file.bytes());
      write(out, file.sha256());
    }
    writeAnswer(out, job.answer());
    out.writeBoolean(job.keyed());
    out.writeBoolean(job.deleted());
  }

  private static JobRecord readJob(DataInputStream in) throws IOException {
    String token = readText(in);
    String owner = readText(in);
    String text = readText(in);
    JobState state = state(in.readByte());
    ResultState result = result(in.readByte());
    JobRecord.Times times =
        new JobRecord.Times(in.readLong(), in.readLong(), in.readLong(), in.readLong());
    JobRecord.Progress progress =
        new JobRecord.Progress(in.readLong(), in.readLong(), in.readLong());
    JobFailure failure = in.readBoolean() ? readFailure(in) : null;
    String transaction = readText(in);
    JobRecord.Outcome outcome =
        new JobRecord.Outcome(state, result, failure, readFiles(in), readAnswer(in));
    JobRecord.Order order = new JobRecord.Order(token, owner, text, null, in.readBoolean());
    return new JobRecord(order, outcome, times, progress, transaction, in.readBoolean());
  }

  private static List<JobFile> readFiles(DataInputStream in) throws IOException {
    int count = in.readInt();
    List<JobFile> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      files.add(
          new JobFile(
              in.readLong(),
              readText(in),
              readText(in),
              readText(in),
              in.readLong(),
              in.readLong(),
              readText(in)));
    }
    return files;
  }

  private static void writeFailure(DataOutputStream out, JobFailure failure) throws IOException {
    out.writeInt(failure.code().number());
    write(out, failure.message());
    write(out, failure.detail());
    write(out, failure.hint());
    write(out, failure.schemaName());
    write(out, failure.tableName());
    write(out, failure.columnName());
    write(out, failure.constraintName());
    out.writeInt(failure.position());
  }

  private static JobFailure readFailure(DataInputStream in) throws IOException {
    int number = in.readInt();
    ErrorCode code = CODES.getOrDefault(number, ErrorCode.INTERNAL_ERROR);
    return new JobFailure(
        code,
        readText(in),
        readText(in),
        readText(in),
        readText(in),
        readText(in),
        readText(in),
        readText(in),
        in.readInt());
  }

  private static void writeKey(DataOutputStream out, KeyRecord key) throws IOException {
    write(out, key.id());
    write(out, key.fingerprint());
    write(out, key.owner());
    out.writeLong(key.createdMillis());
    write(out, key.jobToken());
    writeAnswer(out, key.answer());
    out.writeBoolean(key.isLost());
  }

  private static KeyRecord readKey(DataInputStream in) throws IOException {
    return new KeyRecord(
        readHash(in),
        readHash(in),
        readText(in),
        in.readLong(),
        readText(in),
        readAnswer(in),
        in.readBoolean());
  }

  private static void writeAnswer(DataOutputStream out, @Nullable StoredAnswer answer)
      throws IOException {
    out.writeBoolean(answer != null);
    if (answer == null) {
      return;
    }
    out.writeInt(answer.status());
    out.writeInt(answer.headers().size());
    for (StoredAnswer.Header header : answer.headers()) {
      write(out, header.name());
      write(out, header.value());
    }
    write(out, answer.mediaType());
    out.writeInt(answer.body().length);
    out.write(answer.body());
  }

  private static @Nullable StoredAnswer readAnswer(DataInputStream in) throws IOException {
    if (!in.readBoolean()) {
      return null;
    }
    int status = in.readInt();
    int count = in.readInt();
    List<StoredAnswer.Header> headers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      headers.add(new StoredAnswer.Header(readText(in), readText(in)));
    }
    return new StoredAnswer(status, headers, readText(in), readBytes(in));
  }

  private static void write(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static String readText(DataInputStream in) throws IOException {
    return new String(readBytes(in), StandardCharsets.UTF_8);
  }

  private static byte[] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new IOException("a length of " + length + " bytes where " + in.available() + " are");
    }
    return in.readNBytes(length);
  }

  private static void write(DataOutputStream out, Hash hash) throws IOException {
    out.writeLong(hash.a());
    out.writeLong(hash.b());
    out.writeLong(hash.c());
    out.writeLong(hash.d());
  }

  private static Hash readHash(DataInputStream in) throws IOException {
    return new Hash(in.readLong(), in.readLong(), in.readLong(), in.readLong());
  }

  private static JobState state(int number) throws IOException {
    for (JobState state : JobState.values()) {
      if (state.number() == number) {
        return state;
      }
    }
    throw new IOException("a job of the unknown state " + number);
  }

  private static ResultState result(int number) throws IOException {
    for (ResultState result : ResultState.values()) {
      if (result.number() == number) {
        return result;
      }
    }
    throw new IOException("a result of the unknown state " + number);
  }
}
