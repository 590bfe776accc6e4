package dev.kakehashi.bulk.dump;

import dev.kakehashi.bulk.file.FilePublication;
import dev.kakehashi.bulk.file.LocationPath;
import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Files of one dump: one, or `data_0`, `data_1` … of a directory and of those below it that partitions make. Thread-safe.
public final class FilesTarget implements DumpTarget {
  private static final Pattern OURS = Pattern.compile("data_[0-9]{1,9}\\..*");
  private static final Pattern PARTITION = Pattern.compile("[^=]+=.*", Pattern.DOTALL);

  /// Setup of a dump.
  public record Setup(
      FileFormat format, List<LoadColumn> columns, String query, BulkContext context) {}

  /// A file that has ended.
  private record Ended(NewFile file, long rows) {}

  private final DumpPlan plan;
  private final LocationPath path;
  private final Setup setup;
  private final FilePublication publication;
  private final List<Ended> ended = new ArrayList<>(); // guarded by this
  private final Map<List<String>, Integer> nextNumbers = new HashMap<>(); // guarded by this
  private final List<FilesWriter> writers = new ArrayList<>(); // guarded by this
  private @Nullable WrittenFile onlyFile; // guarded by this
  private final List<LocationPath> obsolete = new ArrayList<>();

  /// @param publication this target's from now on
  public FilesTarget(DumpPlan plan, LocationPath path, Setup setup, FilePublication publication) {
    this.plan = plan;
    this.path = path;
    this.setup = setup;
    this.publication = publication;
    boolean done = false;
    try {
      if (!plan.partitionBy().isEmpty()) {
        // Refuses what cannot be now.
        PartitionKey ignored = new PartitionKey(setup.columns, plan.partitionBy());
      }
      if (plan.isMany()) {
        findOthers(path, 0);
      }
      done = true;
    } finally {
      if (!done) {
        publication.close();
      }
    }
  }

  /// Looks for files of an earlier dump: they would be read together with ours.
  private void findOthers(LocationPath directory, int depth) {
    for (String name : publication.list(directory)) {
      LocationPath child = directory.child(name);
      boolean isPartition = depth < plan.partitionBy().size() && PARTITION.matcher(name).matches();
      if (isPartition) {
        findOthers(new LocationPath(child.location(), child.names(), true), depth + 1);
      } else if (OURS.matcher(name).matches()) {
        if (!plan.overwrites()) {
          throw new EngineException(
                  ErrorCode.DUPLICATE_FILE, "file \"" + child + "\" of another dump already exists")
              .withHint("Take another directory, or say OVERWRITE, which removes it.");
        }
        obsolete.add(child);
      }
    }
  }

  @Override
  public Writer writer(int number) {
    FilesWriter writer =
        plan.partitionBy().isEmpty()
            ? new FilesWriter(this, null)
            : new FilesWriter(this, new PartitionKey(setup.columns, plan.partitionBy()));
    synchronized (this) {
      if (!isParallel() && !writers.isEmpty()) {
        return writers.getFirst();
      }
      writers.add(writer);
      return writer;
    }
  }

  @Override
  public boolean isParallel() {
    return plan.partitionBy().isEmpty() && (plan.isMany() || setup.format.hasPieces());
  }

  /// Begins a file for a writer that has none: one of its own, or its part of the only one.
  ///
  /// @param directories below the dump's
  WrittenFile beginFile(List<String> directories) {
    if (plan.isMany()) {
      return WrittenFile.begin(begin(directories), this::format);
    }
    synchronized (this) {
      WrittenFile first = onlyFile;
      if (first == null) {
        first = WrittenFile.begin(begin(directories), this::format);
        onlyFile = first;
        return first;
      }
      return first.another();
    }
  }

  /// Most bytes of a file; 0: there is no limit.
  long fileBytes() {
    return plan.fileBytes();
  }

  BulkContext context() {
    return setup.context;
  }

  int columnCount() {
    return setup.columns.size();
  }

  /// Begins the next file of a directory.
  ///
  /// @param directories below the dump's
  private NewFile begin(List<String> directories) {
    LocationPath file = path;
    if (plan.isMany()) {
      for (String directory : directories) {
        file = file.child(directory);
      }
      int number;
      synchronized (this) {
        number = nextNumbers.merge(directories, 1, Integer::sum) - 1;
      }
      file = file.child("data_" + number + setup.format.suffix());
    }
    return publication.create(file, plan.isMany());
  }

  private RowsOutput format(NewFile file) {
    return setup.format.write(
        file, setup.columns, new FileFormat.Description(setup.query), setup.context);
  }

  synchronized void ended(NewFile file, long rows) {
    ended.add(new Ended(file, rows));
  }

  @Override
  public List<DumpedFile> finish() {
    boolean isEmpty;
    synchronized (this) {
      isEmpty = ended.isEmpty();
    }
    if (isEmpty && plan.partitionBy().isEmpty()) {
      // No row: a file says which columns there are, all the same.
      try (FilesWriter writer = new FilesWriter(this, null)) {
        writer.beginEmpty();
      }
    }
    List<DumpedFile> dumped = new ArrayList<>();
    List<NewFile> files = new ArrayList<>();
    Set<LocationPath> names = new HashSet<>();
    synchronized (this) {
      for (Ended each : ended) {
        files.add(each.file);
        names.add(each.file.path());
        dumped.add(
            new DumpedFile(
                each.file.path().toString(), each.rows, each.file.position(), each.file.digest()));
      }
    }
    List<LocationPath> gone = new ArrayList<>(obsolete);
    gone.removeIf(names::contains);
    publication.publish(files, gone);
    return List.copyOf(dumped);
  }

  @Override
  public void close() {
    List<FilesWriter> left;
    synchronized (this) {
      left = List.copyOf(writers);
      writers.clear();
    }
    @Nullable RuntimeException failure = null;
    for (FilesWriter writer : left) {
      try {
        writer.abandon();
      } catch (RuntimeException e) {
        failure = e;
      }
    }
    publication.close();
    if (failure != null) {
      throw failure;
    }
  }
}
