package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadRequest;
import dev.kakehashi.engine.api.bulk.UploadFiles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.testing.BatchText;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/// Files in memory: rows as text, line by line. Locations are `out`, for writing, and `in`, for reading.
///
/// Options: `parallel` (a file for each writer), `order_by`, `partition_by`, `workers`, `fail_after` (rows, then 53100).
final class CollectedFiles implements BulkAccess, UploadFiles {
  /// Finished files by their names.
  final Map<String, List<String>> files = new TreeMap<>();

  /// Columns of the last dump.
  List<LoadColumn> columns = List.of();

  /// Query that the last dump reported as its own.
  String query = "";

  /// Writers of the last dump.
  final AtomicInteger writers = new AtomicInteger();

  /// Dumps that are open.
  final AtomicInteger open = new AtomicInteger();

  /// Counted down by each batch that is written; then it waits for [#go].
  CountDownLatch reached = new CountDownLatch(0);

  CountDownLatch go = new CountDownLatch(0);

  private final Map<String, byte[]> uploads = new HashMap<>();

  @Override
  public LoadRequest load(CopyRequest request) {
    throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "no loads");
  }

  @Override
  public DumpRequest dump(CopyRequest request) {
    boolean parallel = false;
    List<String> orderBy = List.of();
    List<String> partitionBy = List.of();
    int workers = 0;
    long failAfter = Long.MAX_VALUE;
    for (CopyRequest.Option option : request.options()) {
      switch (option.name()) {
        case "parallel" -> parallel = true;
        case "order_by" -> orderBy = option.values();
        case "partition_by" -> partitionBy = option.values();
        case "workers" -> workers = Integer.parseInt(option.values().getFirst());
        case "fail_after" -> failAfter = Long.parseLong(option.values().getFirst());
        default ->
            throw new EngineException(
                    ErrorCode.SYNTAX_ERROR, "option \"" + option.name() + "\" not recognized")
                .withPosition(option.position());
      }
    }
    return new Request(
        request.location(),
        new DumpRequest.DumpControl(partitionBy, orderBy, workers),
        parallel,
        failAfter);
  }

  private final class Request implements DumpRequest {
    private final String location;
    private final DumpControl control;
    private final boolean parallel;
    private final long failAfter;

    Request(String location, DumpControl control, boolean parallel, long failAfter) {
      this.location = location;
      this.control = control;
      this.parallel = parallel;
      this.failAfter = failAfter;
    }

    @Override
    public DumpControl control() {
      return control;
    }

    @Override
    public DumpTarget open(
        List<LoadColumn> dumped, String text, BulkUser user, BulkContext context, ByteSink stream) {
      if (!location.isEmpty() && !user.mayWrite(location.substring(0, location.indexOf(':')))) {
        throw new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied for location");
      }
      columns = dumped;
      query = text;
      writers.set(0);
      open.incrementAndGet();
      return new Target(this, dumped, context, stream);
    }
  }

  private final class Target implements DumpTarget {
    private final Request request;
    private final List<Statement.Column> columns;
    private final BulkContext context;
    private final DumpRequest.ByteSink stream;
    private final List<Lines> parts = new ArrayList<>();
    private boolean closed;

    Target(
        Request request,
        List<LoadColumn> columns,
        BulkContext context,
        DumpRequest.ByteSink stream) {
      this.request = request;
      this.columns =
          columns.stream()
              .map(c -> new Statement.Column(c.name(), c.typeOid(), c.typeModifier()))
              .toList();
      this.context = context;
      this.stream = stream;
    }

    @Override
    public synchronized Writer writer(int number) {
      if (number != parts.size() || (number > 0 && !request.parallel)) {
        throw new AssertionError("writer " + number + " after " + parts.size());
      }
      writers.incrementAndGet();
      Lines lines = new Lines(this);
      parts.add(lines);
      return lines;
    }

    @Override
    public boolean isParallel() {
      return request.parallel;
    }

    @Override
    public List<DumpedFile> finish() {
      List<DumpedFile> dumped = new ArrayList<>();
      for (int i = 0; i < parts.size(); i++) {
        Lines part = parts.get(i);
        if (!part.ended) {
          throw new AssertionError("writer " + i + " is open");
        }
        String name = request.location + (request.parallel ? "/" + i : "");
        if (request.location.isEmpty()) {
          byte[] text = (String.join("\n", part.lines) + "\n").getBytes(StandardCharsets.UTF_8);
          stream.write(text, 0, text.length);
        } else {
          synchronized (files) {
            files.put(name, List.copyOf(part.lines));
          }
        }
        dumped.add(new DumpedFile(name, part.lines.size(), part.lines.size() * 2L, "d" + i));
      }
      return dumped;
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        open.decrementAndGet();
      }
    }
  }

  private final class Lines implements DumpTarget.Writer {
    private final Target target;
    private final List<String> lines = new ArrayList<>();
    private final AtomicInteger users = new AtomicInteger();
    private boolean ended;

    Lines(Target target) {
      this.target = target;
    }

    @Override
    public void rows(MemorySegment batch) {
      if (users.incrementAndGet() != 1) {
        throw new AssertionError("a writer is used by two threads");
      }
      reached.countDown();
      try {
        while (go.getCount() > 0) {
          target.context.checkCanceled();
          Thread.onSpinWait();
        }
        target.context.checkCanceled();
        lines.addAll(BatchText.rows(target.columns, batch));
      } finally {
        users.decrementAndGet();
      }
      if (lines.size() > target.request.failAfter) {
        throw new EngineException(ErrorCode.DISK_FULL, "no space left");
      }
    }

    @Override
    public void close() {
      ended = true;
    }
  }

  @Override
  public List<InspectedItem> inspect(CopyRequest request, BulkUser user, BulkContext context) {
    if (!user.mayRead(request.location().substring(0, request.location().indexOf(':')))) {
      throw new EngineException(ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied for location");
    }
    List<InspectedItem> items = new ArrayList<>();
    for (CopyRequest.Option option : request.options()) {
      items.add(
          new InspectedItem(
              request.location(), "option", option.name(), String.join("+", option.values())));
    }
    items.add(new InspectedItem(request.location(), "file", "", user.name()));
    return items;
  }

  @Override
  public byte[] read(String location, BulkUser user, long mostBytes) {
    throw new EngineException(ErrorCode.UNDEFINED_FILE, location + " does not exist");
  }

  @Override
  public UploadFiles uploads() {
    return this;
  }

  @Override
  public List<Location> locations() {
    return List.of(new Location("in", true, false), new Location("out", true, true));
  }

  @Override
  public synchronized String begin(String owner) {
    String id = "%032x".formatted(uploads.size() + 1);
    uploads.put(owner + "/" + id, new byte[0]);
    return id;
  }

  private byte[] upload(String owner, String id) {
    byte[] upload = uploads.get(owner + "/" + id);
    if (upload == null) {
      throw new EngineException(ErrorCode.UNDEFINED_FILE, "upload does not exist");
    }
    return upload;
  }

  @Override
  public synchronized long append(String owner, String id, long offset, MemorySegment bytes) {
    byte[] before = upload(owner, id);
    if (before.length != offset) {
      throw new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, "another offset");
    }
    byte[] after = new byte[before.length + (int) bytes.byteSize()];
    System.arraycopy(before, 0, after, 0, before.length);
    MemorySegment.copy(
        bytes, ValueLayout.JAVA_BYTE, 0, after, before.length, (int) bytes.byteSize());
    uploads.put(owner + "/" + id, after);
    return after.length;
  }

  @Override
  public synchronized long length(String owner, String id) {
    return upload(owner, id).length;
  }

  @Override
  public synchronized void remove(String owner, String id) {
    upload(owner, id);
    uploads.remove(owner + "/" + id);
  }
}
