package dev.kakehashi.queue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
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
    center.lastApplied = states.sequence;
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
      SegmentWriter.write(center, each);
    }
    Image image = image(center);
    try {
      write(center, image);
    } catch (EngineException e) {
      takeBack(center, image);
      throw e;
    }
    center.enter();
    try {
      for (Tail each : image.tails) {
        each.segment.written = Math.max(each.segment.written, each.bytes);
      }
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
    kept.addAll(image.obsolete);
    if (!held) {
      deleteKept(center);
    }
  }

  private static List<TaskSegment> full(QueueCenter center) {
    List<TaskSegment> result = new ArrayList<>();
    center.enter();
    try {
      for (QueueCore queue : center.dirty) {
        for (TaskSegment each : queue.segments) {
          if (each.sealed && each.inMemory()) {
            result.add(each);
          }
        }
      }
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
    return result;
  }

  private Image image(QueueCenter center) {
    Image image = new Image();
    center.enter();
    try {
      image.all = rotate || states.wantsAll();
      image.dirty = center.dirty;
      center.dirty = new LinkedHashSet<>();
      image.gone = center.gone;
      center.gone = new ArrayList<>();
      image.sequence = center.lastApplied;
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
      image.changed = center.takeChanged();
      image.obsolete = center.takeObsolete();
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
    }
    return image;
  }

  private void write(QueueCenter center, Image image) {
    Set<Path> folders = new HashSet<>();
    Set<Path> files = new HashSet<>();
    for (Tail each : image.tails) {
      SegmentFiles.write(center.files.dataPath(each.segment), each.data, each.offset);
      SegmentFiles.write(center.files.indexPath(each.segment), each.index, 0);
      files.add(center.files.dataPath(each.segment));
      files.add(center.files.indexPath(each.segment));
      folders.add(center.files.folder(each.segment.queue.queueId));
    }
    for (TaskSegment each : image.changed) {
      files.add(center.files.dataPath(each));
      files.add(center.files.indexPath(each));
      folders.add(center.files.folder(each.queue.queueId));
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
    center.enter();
    try {
      for (QueueCore each : image.dirty) {
        if (!each.dropped) {
          center.dirty.add(each);
        }
      }
      center.gone.addAll(image.gone);
      image.changed.forEach(center::changed);
      image.obsolete.forEach(center::obsolete);
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
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
        if (each.queue.dropped) {
          folders.add(center.files.folder(each.queue.queueId));
        }
      } catch (IOException e) {
        LOG.warn("A file of queue {} could not be deleted", each.queue.queueId, e);
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
    center.enter();
    try {
      for (QueueCore queue : center.queues.values()) {
        segments.addAll(queue.segments);
      }
      segments.addAll(center.obsoleteNow());
    } finally {
      center.exit(QueueCenter.Then.ELSEWHERE);
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
