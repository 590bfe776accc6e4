package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadRequest;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.bulk.UploadFiles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Files in memory: a line is a row, values separated by `|`, `NULL` is null, `DEFAULT` stands for the column's default. Read by the
/// engine's COPY as if they were on a disk.
///
/// Options: `columns`, `on_error`, `reject_limit`, `batch_rows`, `workers`, `load_id`, `write_preserve`; `part_rows`: lines of a part,
/// `step_rows`: lines of a row batch.
final class MemoryFiles implements BulkAccess {
  private final Map<String, List<String>> files = new ConcurrentHashMap<>();

  /// Rejected rows of the last load that has ended well, as `line: SQLSTATE`, by line.
  volatile List<String> rejected = List.of();

  /// Parts that conditions have excluded, where the option `prune` is 1.
  final AtomicInteger excluded = new AtomicInteger();

  /// How often lines were read again.
  final AtomicInteger rereads = new AtomicInteger();

  /// Called before each row batch, by the thread that asks for it.
  volatile Runnable beforeBatch = () -> {};

  void put(String location, List<String> lines) {
    files.put(location, List.copyOf(lines));
  }

  void put(String location, String... lines) {
    put(location, List.of(lines));
  }

  @Override
  public LoadRequest load(CopyRequest request) {
    return new Request(request);
  }

  @Override
  public DumpRequest dump(CopyRequest request) {
    throw ofRealFiles();
  }

  @Override
  public List<InspectedItem> inspect(CopyRequest request, BulkUser user, BulkContext context) {
    throw ofRealFiles();
  }

  @Override
  public byte[] read(String location, BulkUser user, long mostBytes) {
    if (!user.mayRead("in")) {
      throw new EngineException(ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied for location");
    }
    List<String> lines = files.get(location);
    if (lines == null) {
      throw new EngineException(ErrorCode.UNDEFINED_FILE, "could not open file " + location);
    }
    return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public UploadFiles uploads() {
    throw ofRealFiles();
  }

  @Override
  public List<Location> locations() {
    return List.of(new Location("in", true, false));
  }

  /// Failure of calls that no test of loads makes with files in memory: tests of the server and of files ask the real ones.
  private static UnsupportedOperationException ofRealFiles() {
    return new UnsupportedOperationException("files in memory are loaded alone");
  }

  private final class Request implements LoadRequest {
    private final String location;
    private final Map<String, List<String>> options = new TreeMap<>();

    Request(CopyRequest request) {
      this.location = request.location();
      for (CopyRequest.Option option : request.options()) {
        if (option.name().equals("nonsense")) {
          throw new EngineException(ErrorCode.SYNTAX_ERROR, "option \"nonsense\" not recognized")
              .withPosition(option.position());
        }
        options.put(option.name(), option.values());
      }
    }

    long number(String name, long otherwise) {
      List<String> values = options.get(name);
      return values == null ? otherwise : Long.parseLong(values.getFirst());
    }

    @Nullable String text(String name) {
      List<String> values = options.get(name);
      return values == null ? null : values.getFirst();
    }

    @Override
    public LoadControl control() {
      return new LoadControl(
          "ignore".equals(text("on_error")),
          number("batch_rows", 0),
          (int) number("workers", 0),
          text("load_id"),
          !"false".equals(text("write_preserve")));
    }

    @Override
    public LoadSource open(
        String table,
        List<LoadColumn> columns,
        boolean listed,
        List<LoadCondition> conditions,
        BulkUser user,
        BulkContext context) {
      if (!user.mayRead(location.split(":", -1)[0])) {
        throw new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied for location");
      }
      List<String> lines = files.get(location);
      if (lines == null) {
        throw new EngineException(ErrorCode.UNDEFINED_FILE, "no file " + location);
      }
      List<String> names = options.get("columns");
      int[] given =
          names == null
              ? IntStream.range(0, columns.size()).toArray()
              : names.stream()
                  .mapToInt(name -> columns.stream().map(LoadColumn::name).toList().indexOf(name))
                  .toArray();
      return new Source(this, lines, columns, given, conditions, context);
    }
  }

  private final class Source implements LoadSource {
    private final Request request;
    private final List<String> lines;
    private final int[] given;
    private final int[] oids;
    private final List<LoadCondition> conditions;
    private final BulkContext context;
    private final int partRows;
    private final int stepRows;
    private int parts;
    private long rows;
    private final Map<Long, String> rejects = new TreeMap<>();
    private boolean closed;

    Source(
        Request request,
        List<String> lines,
        List<LoadColumn> columns,
        int[] given,
        List<LoadCondition> conditions,
        BulkContext context) {
      this.conditions = conditions;
      this.request = request;
      this.lines = lines;
      this.given = given;
      this.context = context;
      this.oids = Arrays.stream(given).map(i -> columns.get(i).typeOid()).toArray();
      this.partRows = (int) request.number("part_rows", 1000);
      this.stepRows = (int) request.number("step_rows", 300);
    }

    @Override
    public int[] columns() {
      return given;
    }

    @Override
    public byte[] digest() {
      try {
        return MessageDigest.getInstance("SHA-256")
            .digest(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
      } catch (NoSuchAlgorithmException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public synchronized @Nullable LoadPart next() {
      requireOpen();
      int first = parts * partRows;
      if (first >= lines.size()) {
        return null;
      }
      int end = Math.min(lines.size(), first + partRows);
      return new Part(this, parts++, first, end);
    }

    private void requireOpen() {
      if (closed) {
        throw new AssertionError("the source is closed");
      }
    }

    @Override
    public long totalBytes() {
      return lines.size();
    }

    @Override
    public synchronized long readBytes() {
      return rows;
    }

    synchronized void counted(long read) {
      rows += read;
    }

    /// Lines of a part that were rejected are not rejected yet.
    synchronized void takeBack(long first, long end) {
      rereads.incrementAndGet();
      rejects.keySet().removeIf(line -> line >= first && line < end);
    }

    synchronized void reject(long line, EngineException failure) {
      if (!request.control().tolerant()) {
        throw failure.withDetail("line " + (line + 1));
      }
      if (rejects.put(line, line + 1 + ": " + failure.code().sqlstate()) != null) {
        throw new AssertionError("line " + (line + 1) + " is rejected twice");
      }
      if (rejects.size() > request.number("reject_limit", Long.MAX_VALUE)) {
        throw failure.withDetail("line " + (line + 1));
      }
    }

    @Override
    public synchronized LoadSummary finish() {
      requireOpen();
      rejected = List.copyOf(rejects.values());
      return new LoadSummary(rows, rejects.size(), rejects.isEmpty() ? null : "in:rejected.csv");
    }

    @Override
    public synchronized void close() {
      closed = true;
    }
  }

  /// Lines from `at` to `end`.
  private final class Part implements LoadPart {
    private final Source source;
    private final long number;
    private final int first;
    private final int end;
    private int at;
    private int marked;
    private long leftOut;

    private int[] delivered = {};

    Part(Source source, long number, int first, int end) {
      this.source = source;
      this.number = number;
      this.first = first;
      this.at = first;
      this.end = end;
    }

    @Override
    public long number() {
      return number;
    }

    @Override
    public void skip(long rows) {
      at += (int) rows;
    }

    @Override
    public void mark(long rows) {
      marked = first + (int) rows;
    }

    @Override
    public void rewind() {
      source.takeBack(marked, at);
      at = marked;
    }

    /// Whether a condition on a whole number excludes all lines.
    private boolean isExcluded() {
      return source.request.number("prune", 0) > 0
          && source.conditions.stream()
              .filter(condition -> condition.value() instanceof Long)
              .anyMatch(condition ->
                  source.lines.subList(first, end).stream()
                      .noneMatch(line -> mayHold(condition, line)));
    }

    private static boolean mayHold(LoadCondition condition, String line) {
      String text = line.split("\\|", -1)[condition.column()];
      int order =
          Long.compare(Long.parseLong(text), (Long) Objects.requireNonNull(condition.value()));
      return switch (condition.operator()) {
        case LESS -> order < 0;
        case LESS_OR_EQUAL -> order <= 0;
        case EQUAL -> order == 0;
        case GREATER_OR_EQUAL -> order >= 0;
        case GREATER -> order > 0;
        case IS_NULL, IS_NOT_NULL -> true;
      };
    }

    @Override
    public long leftOut() {
      return leftOut;
    }

    @Override
    public boolean hasDefaults() {
      return true;
    }

    @Override
    public boolean isDefault(int row, int column) {
      return source.lines.get(delivered[row]).split("\\|", -1)[column].equals("DEFAULT");
    }

    @Override
    public @Nullable MemorySegment next() {
      if (at == first && isExcluded()) {
        at = end;
        leftOut = rows();
        excluded.incrementAndGet();
      }
      source.context.checkCanceled();
      beforeBatch.run();
      List<@Nullable Object[]> values = new ArrayList<>();
      int[] taken = new int[source.stepRows];
      while (values.isEmpty() && at < end) {
        while (at < end && values.size() < source.stepRows) {
          int line = at++;
          @Nullable Object[] row = row(line);
          if (row != null) {
            taken[values.size()] = line;
            values.add(row);
          }
        }
      }
      delivered = Arrays.copyOf(taken, values.size());
      if (values.isEmpty()) {
        return null;
      }
      if (source.oids.length == 0) {
        throw new AssertionError("files have columns");
      }
      return TestEngine.parameters(source.oids, values.toArray(new @Nullable Object[0][])).batch();
    }

    /// Null: it is rejected.
    private @Nullable Object @Nullable [] row(int line) {
      String[] texts = source.lines.get(line).split("\\|", -1);
      @Nullable Object[] row = new @Nullable Object[source.oids.length];
      try (VarHeap heap = new VarHeap()) {
        for (int c = 0; c < row.length; c++) {
          if (!texts[c].equals("NULL") && !texts[c].equals("DEFAULT")) {
            Values.parse(source.oids[c], texts[c], heap);
            row[c] = texts[c];
          }
        }
        return row;
      } catch (EngineException failure) {
        source.reject(line, failure);
        return null;
      }
    }

    @Override
    public long rows() {
      return (long) at - first;
    }

    @Override
    public void reject(int row, EngineException failure) {
      source.reject(delivered[row], failure);
    }

    @Override
    public void close() {
      source.counted(rows());
    }
  }
}
