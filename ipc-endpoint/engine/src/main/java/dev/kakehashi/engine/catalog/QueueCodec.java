package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition.Group;
import dev.kakehashi.engine.api.queue.QueueDefinition.Schedule;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.QueueOptions.Push;
import dev.kakehashi.engine.api.queue.QueueOptions.Retry;
import dev.kakehashi.engine.api.queue.QueueOptions.StartLimits;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The form of queues in the store's catalogue; [TableCodec] has the words.
///
/// ```
/// queue: u1 version (1) · utf schema · utf name · i8 id · options · i4 groups, each: i8 id · utf name
///   · i4 weights, each: text key · f8 weight · i4 schedules, each: utf name · utf cron · utf zone · u1 json
///   · i4 length, payload · text comment · rights
/// options: i8 lease · i4 attempts · i8 least and most backoff · i4 doublings · i8 age limit · i8 dead letter queue · f8 rate
///   · i4 bucket · i4 concurrent
///   · f8 rate, i4 bucket, i4 concurrent of keys · u1 ordered by key · i8 aging · u1 paused · text push target · i8 push deadline
/// ```
final class QueueCodec {
  private static final int VERSION = 2;

  /// Its queues have no jitter.
  private static final int WITHOUT_JITTER = 1;

  private QueueCodec() {}

  static byte[] encode(Queue queue) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(queue.schema());
      out.writeUTF(queue.name());
      out.writeLong(queue.queueId());
      writeOptions(out, queue.options());
      QueueDefinition definition = queue.definition();
      out.writeInt(definition.groups().size());
      for (Group group : definition.groups()) {
        out.writeLong(group.groupId());
        out.writeUTF(group.name());
      }
      out.writeInt(definition.weights().size());
      for (Map.Entry<String, Double> weight : definition.weights().entrySet()) {
        EntryFields.writeText(out, weight.getKey());
        out.writeDouble(weight.getValue());
      }
      out.writeInt(definition.schedules().size());
      for (Schedule schedule : definition.schedules()) {
        out.writeUTF(schedule.name());
        out.writeUTF(schedule.cron());
        out.writeUTF(schedule.zone());
        out.writeBoolean(schedule.payload().json());
        out.writeInt(schedule.payload().bytes().length);
        out.write(schedule.payload().bytes());
      }
      EntryFields.writeText(out, queue.comment());
      RightsFields.writeRights(out, queue.rights());
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  private static void writeOptions(DataOutputStream out, QueueOptions options) throws IOException {
    Retry retry = options.retry();
    out.writeLong(options.leaseMillis());
    out.writeInt(retry.maxAttempts());
    out.writeLong(retry.minBackoffMillis());
    out.writeLong(retry.maxBackoffMillis());
    out.writeInt(retry.maxDoublings());
    out.writeLong(retry.ageLimitMillis());
    out.writeLong(retry.deadLetter());
    writeLimits(out, options.limits());
    writeLimits(out, options.keyLimits());
    out.writeBoolean(options.orderByKey());
    out.writeLong(options.agingMillis());
    out.writeBoolean(options.paused());
    EntryFields.writeText(out, options.push().target());
    out.writeLong(options.push().deadlineMillis());
    out.writeDouble(retry.jitter());
  }

  private static void writeLimits(DataOutputStream out, StartLimits limits) throws IOException {
    out.writeDouble(limits.rate());
    out.writeInt(limits.bucketSize());
    out.writeInt(limits.maxConcurrent());
  }

  private static QueueOptions readOptions(DataInputStream in, int version) throws IOException {
    long leaseMillis = in.readLong();
    int maxAttempts = in.readInt();
    long minBackoffMillis = in.readLong();
    long maxBackoffMillis = in.readLong();
    int maxDoublings = in.readInt();
    long ageLimitMillis = in.readLong();
    long deadLetter = in.readLong();
    StartLimits limits = readLimits(in);
    StartLimits keyLimits = readLimits(in);
    boolean orderByKey = in.readBoolean();
    long agingMillis = in.readLong();
    boolean paused = in.readBoolean();
    Push push = new Push(EntryFields.readText(in), in.readLong());
    double jitter = version == WITHOUT_JITTER ? 0 : in.readDouble();
    Retry retry =
        new Retry(
            maxAttempts,
            minBackoffMillis,
            maxBackoffMillis,
            maxDoublings,
            jitter,
            ageLimitMillis,
            deadLetter);
    return new QueueOptions(
        leaseMillis, retry, limits, keyLimits, orderByKey, agingMillis, paused, push);
  }

  private static StartLimits readLimits(DataInputStream in) throws IOException {
    return new StartLimits(in.readDouble(), in.readInt(), in.readInt());
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static Queue decode(String key, byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      int version = in.readUnsignedByte();
      if (version != VERSION && version != WITHOUT_JITTER) {
        throw new IOException("unknown version");
      }
      String schema = in.readUTF();
      String name = in.readUTF();
      long id = in.readLong();
      QueueOptions options = readOptions(in, version);
      List<Group> groups = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        groups.add(new Group(in.readLong(), in.readUTF()));
      }
      Map<String, Double> weights = new HashMap<>();
      for (int left = in.readInt(); left > 0; left--) {
        weights.put(String.valueOf(EntryFields.readText(in)), in.readDouble());
      }
      List<Schedule> schedules = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        schedules.add(
            new Schedule(
                in.readUTF(),
                in.readUTF(),
                in.readUTF(),
                new Payload(in.readBoolean(), readBytes(in))));
      }
      return new Queue(
          new QueueDefinition(id, schema, name, options, groups, weights, schedules),
          EntryFields.readText(in),
          RightsFields.readRights(in));
    } catch (IOException truncated) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED,
          "catalogue entry \"" + key + "\" cannot be read: " + truncated.getMessage(),
          truncated);
    }
  }

  private static byte[] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new EOFException("payload of " + length + " bytes");
    }
    return in.readNBytes(length);
  }
}
