package dev.kakehashi.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.file.ReplacedFile;
import dev.kakehashi.queue.file.SegmentFiles;
import dev.kakehashi.queue.file.StateFile;
import dev.kakehashi.queue.file.TaskSegment;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.system.QueueLock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes files and memory the same: opens, forces, holds files for a backup. One thread at a time, but for the lock that it takes.
final class QueueFiles {
  private static final Logger LOG = LoggerFactory.getLogger(QueueFiles.class);
  private static final String INCARNATION = "incarnation";

  private final Path directory;
  private final StateFile states;
  private boolean held;
  private boolean rotate;

  /// Not deleted before the backup ends.
  private final List<TaskSegment> kept = new ArrayList<>();

  QueueFiles(Path directory) {
    this.directory = directory;
    states = new StateFile(directory);
  }

  /// Counts this start, durably.
  ///
  /// @param seen an incarnation that the log has: the files may be older
  long newIncarnation(long seen) {
    Path path = directory.resolve(INCARNATION);
    try {
      Files.createDirectories(directory);
      long before = Files.exists(path) ? Long.parseLong(Files.readString(path).strip()) : 0;
      long now = Math.max(before, seen) + 1;
      ReplacedFile.write(path, Long.toString(now));
      return now;
    } catch (NumberFormatException e) {
      throw new EngineException(ErrorCode.DATA_CORRUPTED, path + " has no number", e);
    } catch (IOException e) {
      throw SegmentFiles.failure("write", path, e);
    }
  }

  /// Reads the states of all queues.
  void open(QueueCenter center) {
    try {
      states.open(bytes -> {
        QueueCore queue = StateCodec.decode(center, bytes);
        center.queues.put(queue.queueId, queue);
      });
    } catch (IOException e) {
      throw SegmentFiles.failure("read", directory, e);
    }
    center.log.begin(states.sequence);
  }

  /// Data that one force writes.
  private static final class Image {
    boolean all;
    Set<QueueCore> dirty = Set.of();
    List<QueueCore> gone = List.of();
    final Map<Long, byte[]> states = new HashMap<>();
    final List<Tail> tails = new ArrayList<>();
    List<TaskSegment> changed = List.of();
    List<TaskSegment> obsolete = List.of();
    long sequence;
  }

  /// Unwritten data and index of a segment in memory.
  private record Tail(
      TaskSegment segment, ByteBuffer data, int offset, int bytes, ByteBuffer index) {}

  void force(QueueCenter center) {
    for (TaskSegment each : full(center)) {
      center.segmentWriter.write(each);
    }
    Image image = new Image();
    try {
      center.segmentWriter.alone(() -> {
        take(center, image);
        writeTails(center, image);
      });
      write(center, image);
    } catch (EngineException e) {
      takeBack(center, image);
      throw e;
    }
    center.lock.enter();
    try {
      for (Tail each : image.tails) {
        each.segment.written = Math.max(each.segment.written, each.bytes);
      }
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
    kept.addAll(image.obsolete);
    if (!held) {
      deleteKept(center);
    }
  }

  private static List<TaskSegment> full(QueueCenter center) {
    List<TaskSegment> result = new ArrayList<>();
    center.lock.enter();
    try {
      for (QueueCore queue : center.log.dirty()) {
        for (TaskSegment each : queue.segments) {
          if (each.sealed && each.inMemory()) {
            result.add(each);
          }
        }
      }
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
    return result;
  }

  private void take(QueueCenter center, Image image) {
    center.lock.enter();
    try {
      image.all = rotate || states.wantsAll();
      image.dirty = center.log.takeDirty();
      image.gone = center.log.takeGone();
      image.sequence = center.log.lastApplied();
      for (QueueCore queue : image.all ? center.queues.values() : image.dirty) {
        image.states.put(queue.queueId, StateCodec.encode(queue));
      }
      for (QueueCore queue : image.dirty) {
        for (TaskSegment each : queue.segments) {
          if (each.inMemory() && each.count > 0) {
            image.tails.add(
                new Tail(each, each.unwrittenCopy(), each.written, each.bytes, each.indexCopy()));
            each.onDisk = true;
          }
        }
      }
      image.changed = center.chores.takeChanged();
      image.obsolete = center.chores.takeObsolete();
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  private static void writeTails(QueueCenter center, Image image) {
    for (Tail each : image.tails) {
      SegmentFiles.write(center.files.dataPath(each.segment), each.data, each.offset);
      SegmentFiles.write(center.files.indexPath(each.segment), each.index, 0);
    }
  }

  private void write(QueueCenter center, Image image) {
    Set<Path> folders = new HashSet<>();
    Set<Path> files = new HashSet<>();
    for (Tail each : image.tails) {
      files.add(center.files.dataPath(each.segment));
      files.add(center.files.indexPath(each.segment));
      folders.add(center.files.folder(each.segment.queueId));
    }
    for (TaskSegment each : image.changed) {
      files.add(center.files.dataPath(each));
      files.add(center.files.indexPath(each));
      folders.add(center.files.folder(each.queueId));
    }
    files.forEach(SegmentFiles::sync);
    folders.forEach(SegmentFiles::syncDirectory);
    if (!folders.isEmpty()) {
      SegmentFiles.syncDirectory(directory);
    }
    if (image.states.isEmpty()
        && image.gone.isEmpty()
        && image.sequence == states.sequence
        && !image.all) {
      return;
    }
    List<Long> gone = new ArrayList<>();
    image.gone.forEach(each -> gone.add(each.queueId));
    states.write(image.states, gone, image.sequence, image.all);
    rotate = false;
  }

  private static void takeBack(QueueCenter center, Image image) {
    center.lock.enter();
    try {
      center.log.giveBack(image.dirty, image.gone);
      image.changed.forEach(center.chores::changed);
      image.obsolete.forEach(center.chores::obsolete);
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
  }

  private void deleteKept(QueueCenter center) {
    List<TaskSegment> todo = List.copyOf(kept);
    kept.clear();
    Set<Path> folders = new HashSet<>();
    for (TaskSegment each : todo) {
      try {
        Files.deleteIfExists(center.files.dataPath(each));
        Files.deleteIfExists(center.files.indexPath(each));
        if (!center.queues.containsKey(each.queueId)) {
          folders.add(center.files.folder(each.queueId));
        }
      } catch (IOException e) {
        LOG.warn("A file of queue {} could not be deleted", each.queueId, e);
        kept.add(each);
      }
    }
    try {
      for (Path each : folders) {
        Files.deleteIfExists(each);
      }
      states.deleteOlder();
    } catch (IOException e) {
      LOG.warn("A file of queues in {} could not be deleted", directory, e);
    }
  }

  List<Path> hold(QueueCenter center) {
    if (held) {
      throw new EngineException(
          ErrorCode.OBJECT_IN_USE, "another backup holds the files of the queues");
    }
    held = true;
    rotate = true;
    List<Path> result = new ArrayList<>();
    result.add(Path.of(INCARNATION));
    if (Files.exists(states.path())) {
      result.add(directory.relativize(states.path()));
    }
    List<TaskSegment> segments = new ArrayList<>(kept);
    center.lock.enter();
    try {
      for (QueueCore queue : center.queues.values()) {
        segments.addAll(queue.segments);
      }
      segments.addAll(center.chores.obsoleteNow());
    } finally {
      center.lock.exit(QueueLock.Then.ELSEWHERE);
    }
    for (TaskSegment each : segments) {
      for (Path path : List.of(center.files.dataPath(each), center.files.indexPath(each))) {
        if (Files.exists(path)) {
          result.add(directory.relativize(path));
        }
      }
    }
    return result;
  }

  void release(QueueCenter center) {
    held = false;
    deleteKept(center);
  }
}
