package dev.kakehashi.queue.file;

import java.util.ArrayList;
import java.util.List;

/// Segments whose files have something to be done without the lock: full ones are to be written, changed ones to be forced, obsolete ones
/// to be deleted. Guarded by the lock of the queue system.
///
/// Each list is taken by one thread, which does the chore, or adds what it could not do again.
public final class SegmentChores {
  private final SegmentFiles files;
  private final List<TaskSegment> sealed = new ArrayList<>();
  private final List<TaskSegment> changed = new ArrayList<>();
  private final List<TaskSegment> obsolete = new ArrayList<>();

  public SegmentChores(SegmentFiles files) {
    this.files = files;
  }

  /// It is full: it can be written, and leave memory.
  public void sealed(TaskSegment segment) {
    sealed.add(segment);
  }

  public boolean hasSealed() {
    return !sealed.isEmpty();
  }

  /// Full segments that nobody writes yet.
  public List<TaskSegment> takeSealed() {
    List<TaskSegment> result = List.copyOf(sealed);
    sealed.clear();
    return result;
  }

  /// Its files have changes that do not survive power loss.
  public void changed(TaskSegment segment) {
    if (!segment.unsynced) {
      segment.unsynced = true;
      changed.add(segment);
    }
  }

  /// Segments whose files have changed since the last call.
  public List<TaskSegment> takeChanged() {
    List<TaskSegment> result = List.copyOf(changed);
    for (TaskSegment each : result) {
      each.unsynced = false;
    }
    changed.clear();
    return result;
  }

  /// It is no part of its queue any more.
  public void obsolete(TaskSegment segment) {
    files.forget(segment);
    segment.freed = true;
    if (segment.onDisk || segment.beingWritten) {
      obsolete.add(segment);
    }
  }

  public List<TaskSegment> obsoleteNow() {
    return obsolete;
  }

  /// Segments whose files are not needed any more, since the last call.
  public List<TaskSegment> takeObsolete() {
    List<TaskSegment> result = List.copyOf(obsolete);
    obsolete.clear();
    return result;
  }
}
