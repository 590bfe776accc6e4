package dev.kakehashi.bulk.file;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.os.Errno;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// New files of one statement in one location: all have their final names, durably, or none has.
///
/// While a publication lives, its mark is in the location's directory, and the publication holds a lock on it. A sweep that finds a mark
/// without a lock removes the mark and its files: their process has died. If that process died while it named several files, which its mark
/// says ([PublicationRecord]), the others get their names first.
/// Thread-safe; closed by its owner.
public final class FilePublication implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FilePublication.class);

  /// How deep files of a partitioned dump may be below its directory.
  private static final int MAX_DEPTH = 64;

  private static final int MARK_MODE = 0b110_000_000;

  private final FileGate gate;
  private final BulkLocation location;
  private final boolean overwrites;
  private final BulkContext context;
  private final String mark;
  private final int markDescriptor;
  private final List<NewFile> files = new ArrayList<>(); // guarded by this
  private final List<List<String>> madeDirectories = new ArrayList<>(); // guarded by this
  private final Set<List<String>> knownDirectories = new HashSet<>(); // guarded by this
  private long nextNumber; // guarded by this
  private boolean isOpen = true; // guarded by this

  private FilePublication(
      FileGate gate,
      BulkLocation location,
      boolean overwrites,
      BulkContext context,
      String mark,
      int markDescriptor) {
    this.gate = gate;
    this.location = location;
    this.overwrites = overwrites;
    this.context = context;
    this.mark = mark;
    this.markDescriptor = markDescriptor;
  }

  /// Begins; sweeps what others have left.
  ///
  /// @param overwrites whether files that are there are replaced
  public static FilePublication begin(
      FileGate gate, BulkLocation location, boolean overwrites, BulkContext context) {
    sweep(gate, location);
    try (OpenDirectory root = gate.directory(location, List.of())) {
      while (true) {
        String mark = TemporaryName.newMark();
        int descriptor = root.create(mark, MARK_MODE);
        if (descriptor < 0) {
          throw FileFailure.of("could not write to location", location.name(), descriptor);
        }
        int locked = FileCalls.lock(descriptor);
        if (locked == 0 && root.has(mark)) {
          return new FilePublication(gate, location, overwrites, context, mark, descriptor);
        }
        FileCalls.close(descriptor);
        if (locked < 0 && locked != -Errno.EAGAIN) {
          root.unlink(mark);
          throw FileFailure.of("could not lock a file of location", location.name(), locked);
        }
        // Somebody who sweeps had it between both: he takes it away, and another is made.
        context.checkCanceled();
      }
    }
  }

  /// Begins a file.
  ///
  /// @param makesDirectories whether directories are made that are not there
  /// @throws EngineException DUPLICATE_FILE when there is one of the name, UNDEFINED_FILE without a directory, DISK_FULL, IO_ERROR
  public synchronized NewFile create(LocationPath path, boolean makesDirectories) {
    if (makesDirectories) {
      makeDirectories(path.directory());
    }
    try (OpenDirectory directory = gate.directory(location, path.directory())) {
      if (directory.isDirectory(path.fileName())) {
        throw new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + path + "\" is a directory")
            .withHint("A dump into several files has a name that ends with /.");
      }
      if (!overwrites && directory.has(path.fileName())) {
        throw duplicate(path);
      }
      NewFile file = NewFile.create(directory, path, TemporaryName.of(mark, nextNumber++), context);
      files.add(file);
      return file;
    }
  }

  /// Makes a file for what does not fit into memory, beside the others.
  public synchronized UnnamedFile spill(LocationPath beside) {
    try (OpenDirectory directory = gate.directory(location, beside.directory())) {
      return UnnamedFile.create(directory, TemporaryName.of(mark, nextNumber++), location.name());
    }
  }

  private static EngineException duplicate(LocationPath path) {
    return new EngineException(ErrorCode.DUPLICATE_FILE, "file \"" + path + "\" already exists")
        .withHint("Take another name, or say OVERWRITE.");
  }

  private void makeDirectories(List<String> names) {
    for (int depth = 1; depth <= names.size(); depth++) {
      List<String> prefix = List.copyOf(names.subList(0, depth));
      if (knownDirectories.contains(prefix)) {
        continue;
      }
      try (OpenDirectory parent = gate.directory(location, prefix.subList(0, depth - 1))) {
        if (!parent.isDirectory(prefix.getLast())) {
          parent.make(prefix.getLast());
          madeDirectories.add(prefix);
        }
      }
      knownDirectories.add(prefix);
    }
  }

  /// Names of a directory; none if it is not there.
  public List<String> list(LocationPath path) {
    try (OpenDirectory directory = gate.directory(location, path.directory())) {
      List<String> names = directory.list();
      names.removeIf(TemporaryName::isOne);
      return names;
    } catch (EngineException e) {
      if (e.code() == ErrorCode.UNDEFINED_FILE) {
        return List.of();
      }
      throw e;
    }
  }

  /// Gives files their names. If one cannot get its, those that have one lose it again, unless files are replaced: then the new ones stay.
  ///
  /// @param published files that have ended; the others are removed by [#close()]
  /// @param obsolete files of the same directories that go when all have their names
  public synchronized void publish(List<NewFile> published, List<LocationPath> obsolete) {
    List<NewFile> done = new ArrayList<>();
    PublicationRecord record = record(published, obsolete);
    boolean isWhole = false;
    try {
      if (record.isNeeded()) {
        record.write(markDescriptor, location.name());
        sync(List.of());
      }
      for (NewFile file : published) {
        rename(file);
        done.add(file);
      }
      Set<List<String>> directories = new HashSet<>();
      published.forEach(file -> directories.add(file.directory()));
      obsolete.forEach(path -> directories.add(path.directory()));
      for (LocationPath path : obsolete) {
        remove(path.directory(), path.fileName());
      }
      directories.forEach(this::sync);
      isWhole = true;
    } finally {
      if (!isWhole && record.isNeeded()) {
        PublicationRecord.forget(markDescriptor, location.name());
      }
      if (!isWhole && !overwrites) {
        done.forEach(file -> remove(file.directory(), file.path().fileName()));
      }
      if (isWhole) {
        files.removeAll(published);
        madeDirectories.clear();
      }
    }
  }

  private PublicationRecord record(List<NewFile> published, List<LocationPath> obsolete) {
    List<PublicationRecord.Named> named = new ArrayList<>();
    for (NewFile file : published) {
      named.add(new PublicationRecord.Named(file.temporaryName(), file.path()));
    }
    return new PublicationRecord(overwrites, named, obsolete);
  }

  private void sync(List<String> names) {
    try (OpenDirectory directory = gate.directory(location, names)) {
      directory.sync();
    }
  }

  private void rename(NewFile file) {
    if (!file.isEnded()) {
      throw new IllegalStateException(file.path() + " has not ended");
    }
    try (OpenDirectory directory = gate.directory(location, file.directory())) {
      int result = directory.rename(file.temporaryName(), file.path().fileName(), overwrites);
      if (result == -Errno.EEXIST) {
        throw duplicate(file.path());
      }
      if (result < 0) {
        throw FileFailure.of("could not name file", file.path().toString(), result);
      }
    }
  }

  /// Removes what was not published.
  @Override
  public synchronized void close() {
    if (!isOpen) {
      return;
    }
    isOpen = false;
    @Nullable EngineException failure = null;
    for (NewFile file : files) {
      try {
        file.close();
      } catch (EngineException e) {
        failure = e;
      }
      remove(file.directory(), file.temporaryName());
    }
    for (List<String> names : madeDirectories.reversed()) {
      removeDirectory(names);
    }
    remove(List.of(), mark);
    FileCalls.close(markDescriptor);
    if (failure != null) {
      throw failure;
    }
  }

  /// A file that cannot be removed now is swept later, because the mark stays then.
  private void remove(List<String> names, String name) {
    try (OpenDirectory directory = gate.directory(location, names)) {
      int result = directory.unlink(name);
      if (result < 0 && result != -Errno.ENOENT) {
        LOG.warn(
            "a file of location {} could not be removed: {}",
            location.name(),
            Errno.reason(-result));
      }
    } catch (EngineException e) {
      LOG.warn("a file of location {} could not be removed", location.name(), e);
    }
  }

  private void removeDirectory(List<String> names) {
    try (OpenDirectory parent = gate.directory(location, names.subList(0, names.size() - 1))) {
      int result = parent.removeDirectory(names.getLast());
      if (result < 0 && result != -Errno.ENOTEMPTY) {
        LOG.warn(
            "a directory of location {} could not be removed: {}",
            location.name(),
            Errno.reason(-result));
      }
    } catch (EngineException e) {
      LOG.warn("a directory of location {} could not be removed", location.name(), e);
    }
  }

  /// Removes unfinished files of processes that have died.
  ///
  /// @return how many
  public static int sweep(FileGate gate, BulkLocation location) {
    int swept = 0;
    try (OpenDirectory root = gate.directory(location, List.of())) {
      for (String name : root.list()) {
        if (TemporaryName.isMark(name)) {
          swept += sweep(gate, location, root, name);
        }
      }
    }
    if (swept > 0) {
      LOG.info("{} unfinished files were removed from location {}", swept, location.name());
    }
    return swept;
  }

  private static int sweep(FileGate gate, BulkLocation location, OpenDirectory root, String mark) {
    int descriptor = root.openForLock(mark);
    if (descriptor < 0) {
      return 0;
    }
    try {
      if (FileCalls.lock(descriptor) < 0) {
        return 0;
      }
      // A mark may be of another user, who may write here, too: its steps are not done in our name.
      if (FileStatus.of(descriptor, mark).owner() == FileCalls.user()) {
        PublicationRecord record = PublicationRecord.read(descriptor, mark, location);
        if (record != null) {
          goOn(gate, location, record);
        }
      }
      int swept = sweepBelow(root, mark, 0);
      root.unlink(mark);
      return swept;
    } finally {
      FileCalls.close(descriptor);
    }
  }

  /// Names and removes what a process that died in the middle has not come to.
  ///
  /// @throws EngineException IO_ERROR and others; then the mark stays, and so do the files
  private static void goOn(FileGate gate, BulkLocation location, PublicationRecord record) {
    Set<List<String>> directories = new HashSet<>();
    for (PublicationRecord.Named each : record.named()) {
      directories.add(each.path().directory());
      try (OpenDirectory directory = gate.directory(location, each.path().directory())) {
        int result =
            directory.rename(each.temporaryName(), each.path().fileName(), record.replaces());
        if (result == -Errno.EEXIST) {
          LOG.warn("{} is somebody else's, and not that of an interrupted dump", each.path());
        } else if (result < 0 && result != -Errno.ENOENT) {
          throw FileFailure.of("could not name file", each.path().toString(), result);
        }
      }
    }
    for (LocationPath path : record.removed()) {
      directories.add(path.directory());
      try (OpenDirectory directory = gate.directory(location, path.directory())) {
        int result = directory.unlink(path.fileName());
        if (result < 0 && result != -Errno.ENOENT) {
          throw FileFailure.of("could not remove file", path.toString(), result);
        }
      }
    }
    for (List<String> names : directories) {
      try (OpenDirectory directory = gate.directory(location, names)) {
        directory.sync();
      }
    }
    LOG.info("{} files of an interrupted dump have their names", record.named().size());
  }

  private static int sweepBelow(OpenDirectory directory, String mark, int depth) {
    int swept = 0;
    for (String name : directory.list()) {
      if (TemporaryName.belongsTo(name, mark)) {
        if (directory.unlink(name) == 0) {
          swept++;
        }
      } else if (depth < MAX_DEPTH && directory.isDirectory(name)) {
        try (OpenDirectory child = directory.child(name)) {
          swept += sweepBelow(child, mark, depth + 1);
        } catch (EngineException e) {
          // Somebody else's directory: nothing of ours is in it.
          LOG.debug("a directory of a location cannot be swept", e);
        }
      }
    }
    return swept;
  }
}
