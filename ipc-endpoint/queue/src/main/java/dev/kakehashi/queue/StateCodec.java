package dev.kakehashi.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.DelayedSegment;
import dev.kakehashi.queue.order.FairLane;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.KeyChain;
import dev.kakehashi.queue.order.PriorityLevel;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.QueueSegment;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.order.UniqueTaskKeys.UniqueTask;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The state of a queue as bytes: what its segments do not say. Guarded by the lock of the queue system.
///
/// It is the state of the log: leases end with a run, so what is lent is written as given back, with the attempts that the log has.
final class StateCodec {
  private static final int VERSION = 3;

  /// Dead letters count among what was canceled.
  private static final int WITHOUT_DEAD_LETTERS = 2;

  /// Without what waits in segments for its time.
  private static final int WITHOUT_DELAYS = 1;

  private static final int MOST_TAKEN_WORDS = 1 << 20;

  private StateCodec() {}

  static byte[] encode(QueueCore queue) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeLong(queue.queueId);
      out.writeLong(queue.next);
      out.writeInt(queue.segments.size());
      for (QueueSegment each : queue.segments) {
        out.writeLong(each.base);
        out.writeInt(each.count);
        out.writeInt(each.bytes);
        out.writeBoolean(each.sealed);
        out.writeLong(each.smallestId);
        out.writeLong(each.greatestId);
        out.writeInt(each.open.length);
        for (int open : each.open) {
          out.writeInt(open);
        }
      }
      out.writeInt(queue.groups.size());
      for (GroupCore each : queue.groups) {
        encode(each, out);
      }
      encodeKeys(queue, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Memory has no errors.
    }
    return bytes.toByteArray();
  }

  private static void encodeKeys(QueueCore queue, DataOutputStream out) throws IOException {
    List<UniqueTask> unique = queue.uniqueKeys.committed();
    out.writeInt(unique.size());
    for (UniqueTask each : unique) {
      text(out, each.key);
      out.writeLong(each.taskId);
      out.writeLong(each.untilMillis);
    }
    Map<String, Long> fired = queue.fired;
    out.writeInt(fired == null ? 0 : fired.size());
    if (fired != null) {
      for (Map.Entry<String, Long> each : fired.entrySet()) {
        text(out, each.getKey());
        out.writeLong(each.getValue());
      }
    }
  }

  private static void encode(GroupCore group, DataOutputStream out) throws IOException {
    out.writeLong(group.groupId);
    out.writeInt(group.slot);
    out.writeBoolean(group.accepting);
    out.writeLong(group.enqueued);
    out.writeLong(group.done);
    out.writeLong(group.canceled);
    out.writeLong(group.deadLetters);
    int lanes = 0;
    for (PriorityLevel level : group.levels) {
      if (level != null) {
        for (FairLane each : level.all()) {
          lanes += each.head >= 0 ? 1 : 0;
        }
      }
    }
    out.writeInt(lanes);
    for (PriorityLevel level : group.levels) {
      if (level == null) {
        continue;
      }
      for (FairLane each : level.all()) {
        if (each.head >= 0) {
          out.writeByte(level.priority);
          text(out, each.fair);
          out.writeLong(each.head);
          out.writeLong(each.tail);
        }
      }
    }
    int chains = 0;
    for (KeyChain each : group.keys.values()) {
      chains += each.head >= 0 ? 1 : 0;
    }
    out.writeInt(chains);
    for (KeyChain each : group.keys.values()) {
      if (each.head >= 0) {
        text(out, each.key);
        out.writeLong(each.head);
        out.writeLong(each.tail);
        out.writeByte(each.headPriority);
        text(out, each.headFair);
      }
    }
    out.writeInt(group.entries.size());
    for (TaskEntry each : group.entries.values()) {
      encode(each, out);
    }
    encodeDelays(group, out);
  }

  private static void encodeDelays(GroupCore group, DataOutputStream out) throws IOException {
    int count = 0;
    for (QueueSegment each : group.queue.segments) {
      count += each.delayed(group.slot) == null ? 0 : 1;
    }
    out.writeInt(count);
    for (QueueSegment each : group.queue.segments) {
      DelayedSegment delayed = each.delayed(group.slot);
      if (delayed == null) {
        continue;
      }
      out.writeLong(each.base);
      out.writeLong(delayed.from);
      out.writeInt(delayed.waiting);
      out.writeInt(delayed.next);
      long[] taken = delayed.taken.toLongArray();
      out.writeInt(taken.length);
      for (long word : taken) {
        out.writeLong(word);
      }
    }
  }

  private static void decodeDelays(GroupCore group, DataInputStream in) throws IOException {
    int count = count(in);
    for (int at = 0; at < count; at++) {
      long base = in.readLong();
      QueueSegment segment = group.queue.segmentIfThere(base);
      if (segment == null || segment.base != base) {
        throw new IOException(
            "delayed tasks from position " + base + " on, where no segment begins");
      }
      long from = in.readLong();
      int waiting = in.readInt();
      int next = in.readInt();
      int words = in.readInt();
      if (waiting < 0 || waiting > segment.count || words < 0 || words > MOST_TAKEN_WORDS) {
        throw new IOException(waiting + " delayed tasks, and " + words + " words of others");
      }
      long[] taken = new long[words];
      for (int word = 0; word < words; word++) {
        taken[word] = in.readLong();
      }
      group.delays.put(segment, from, BitSet.valueOf(taken), waiting, next);
    }
  }

  private static void encode(TaskEntry entry, DataOutputStream out) throws IOException {
    Phase phase =
        switch (entry.phase == Phase.HELD ? entry.before : entry.phase) {
          case DEAD -> Phase.DEAD;
          case GONE -> Phase.GONE;
          case DELAYED -> Phase.DELAYED;
          case READY, LEASED, HELD -> Phase.READY;
        };
    out.writeLong(entry.position);
    out.writeByte(
        switch (phase) {
          case READY, LEASED, HELD -> 0;
          case DELAYED -> 1;
          case DEAD -> 2;
          case GONE -> 3;
        });
    out.writeBoolean(entry.inChain);
    out.writeInt(entry.loggedAttempts);
    out.writeLong(entry.runAtMillis);
    // A start from here finds that its lease has ended, if the log does not say more.
    boolean lent = entry.lent || (entry.phase == Phase.LEASED && !entry.claimPending);
    text(out, lent ? TaskEntry.LEASE_ENDED : entry.lastError);
  }

  private static void text(DataOutputStream out, @Nullable String text) throws IOException {
    if (text == null) {
      out.writeInt(-1);
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static @Nullable String text(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0) {
      return null;
    }
    if (length > in.available()) {
      throw new IOException("a text of " + length + " bytes");
    }
    return new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  private static String someText(DataInputStream in) throws IOException {
    String text = text(in);
    if (text == null) {
      throw new IOException("a text is missing");
    }
    return text;
  }

  private static int count(DataInputStream in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > in.available()) {
      throw new IOException("a count of " + count);
    }
    return count;
  }

  /// Makes the queue, with segments as files have them.
  ///
  /// @throws EngineException DATA_CORRUPTED
  static QueueCore decode(QueueCenter center, byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readByte();
      if (version < WITHOUT_DELAYS || version > VERSION) {
        throw new IOException("another version");
      }
      QueueCore queue = new QueueCore(center, in.readLong());
      queue.next = in.readLong();
      queue.nextToGive = queue.next;
      int segments = count(in);
      for (int at = 0; at < segments; at++) {
        QueueSegment segment = new QueueSegment(queue, in.readLong());
        segment.count = in.readInt();
        segment.bytes = in.readInt();
        segment.sealed = in.readBoolean();
        segment.smallestId = in.readLong();
        segment.greatestId = in.readLong();
        segment.open = new int[Math.min(count(in), 1 << 16)];
        for (int slot = 0; slot < segment.open.length; slot++) {
          segment.open[slot] = in.readInt();
        }
        segment.onDisk = segment.count > 0;
        segment.written = segment.bytes;
        if (!segment.sealed && segment.count > 0) {
          center.files.load(segment);
        }
        queue.segments.add(segment);
      }
      int groups = count(in);
      for (int at = 0; at < groups; at++) {
        decodeGroup(queue, in, version);
      }
      decodeKeys(queue, in);
      return queue;
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED, "the state of a queue is damaged: " + e.getMessage(), e);
    }
  }

  private static void decodeKeys(QueueCore queue, DataInputStream in) throws IOException {
    int unique = count(in);
    for (int at = 0; at < unique; at++) {
      queue.uniqueKeys.put(new UniqueTask(queue, someText(in), in.readLong(), -1, in.readLong()));
    }
    int fired = count(in);
    for (int at = 0; at < fired; at++) {
      queue.fired(someText(in), in.readLong());
    }
  }

  private static void decodeGroup(QueueCore queue, DataInputStream in, int version)
      throws IOException {
    GroupCore group = new GroupCore(queue, in.readLong(), in.readInt());
    queue.groups.add(group);
    group.accepting = in.readBoolean();
    group.enqueued = in.readLong();
    group.done = in.readLong();
    group.canceled = in.readLong();
    if (version > WITHOUT_DEAD_LETTERS) {
      group.deadLetters = in.readLong();
    }
    int lanes = count(in);
    for (int at = 0; at < lanes; at++) {
      int priority = in.readByte();
      if (priority < 0 || priority >= group.levels.length) {
        throw new IOException("a priority of " + priority);
      }
      FairLane lane = group.level(priority).lane(text(in));
      lane.head = in.readLong();
      lane.tail = in.readLong();
      lane.level.activate(lane);
    }
    int chains = count(in);
    for (int at = 0; at < chains; at++) {
      KeyChain chain = group.chain(someText(in));
      chain.head = in.readLong();
      chain.tail = in.readLong();
      chain.headPriority = in.readByte();
      chain.headFair = text(in);
    }
    int entries = count(in);
    for (int at = 0; at < entries; at++) {
      decodeEntry(group, in);
    }
    if (version != WITHOUT_DELAYS) {
      decodeDelays(group, in);
    }
  }

  private static void decodeEntry(GroupCore group, DataInputStream in) throws IOException {
    TaskEntry entry = new TaskEntry(group, in.readLong());
    int phase = in.readByte();
    entry.phase =
        switch (phase) {
          case 0 -> Phase.READY;
          case 1 -> Phase.DELAYED;
          case 2 -> Phase.DEAD;
          case 3 -> Phase.GONE;
          default -> throw new IOException("a phase of " + phase);
        };
    entry.inChain = in.readBoolean();
    entry.attempts = in.readInt();
    entry.loggedAttempts = entry.attempts;
    entry.runAtMillis = in.readLong();
    entry.lastError = text(in);
    group.entries.put(entry.position, entry);
    if (entry.phase == Phase.DEAD) {
      group.dead++;
    } else if (entry.phase == Phase.DELAYED) {
      group.know(entry);
      group.delayByWall(entry);
    }
  }
}
