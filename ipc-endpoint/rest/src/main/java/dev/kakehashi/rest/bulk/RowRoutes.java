package dev.kakehashi.rest.bulk;

import dev.kakehashi.rest.header.Accept;
import dev.kakehashi.rest.header.Prefer;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.job.http.IdempotentPosts;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeRequest;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.sql.StatementDoor;
import dev.kakehashi.rest.sql.StatementOrder;
import dev.kakehashi.rest.sql.TableName;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// `/v1/tables/{table}/rows`: rows of a table as a file that is the body. Thread-safe.
///
/// A body goes to a file while it comes, and is loaded when it is whole. Options of COPY are query parameters.
public final class RowRoutes {
  private static final String PATH = "/v1/tables/{table}/rows";
  private static final Duration KEYED_WAIT = Duration.ofSeconds(60);
  private static final byte[] NO_BODY = {};

  private final StatementDoor door;
  private final SentFiles files;

  public RowRoutes(StatementDoor door, SentFiles files) {
    this.door = door;
    this.files = files;
  }

  public List<Route> routes() {
    return List.of(
        Route.post(PATH)
            .accepts(FileKind.mediaTypes().toArray(new String[0]))
            .codings("gzip", "zstd")
            .parameters(CopyOptionList.parameters(CopyOptionList.LOAD, "format", "files"))
            .parameters("where")
            .maxBody(files.maxBytes())
            .handleBody(this::load),
        Route.get(PATH)
            .parameters(
                CopyOptionList.parameters(
                    CopyOptionList.DUMP,
                    "format",
                    "force_array",
                    "file_size",
                    "partition_by",
                    "overwrite"))
            .handleDirectly((exchange, body) -> dump(exchange)));
  }

  private void load(Exchange exchange) throws IOException {
    // All that can be refused is looked at before the body is read.
    TableName table = TableName.parse(exchange.request().variable("table"));
    FileKind kind = FileKind.ofMediaType(exchange.request().contentType());
    CopyOptionList options = new CopyOptionList(CopyOptionList.LOAD);
    options.put("format", kind.option());
    options.addParameters(exchange.request());
    addTypeParameters(exchange.request(), kind, options);
    List<String> columns = columns(exchange.request());
    @Nullable String where = exchange.request().parameter("where");
    if (exchange.request().transaction().verb() == TransactionHeader.Verb.ABORT) {
      throw Problem.badRequest(TransactionHeader.NAME + ": abort takes no rows");
    }
    boolean isKeyed = IdempotentPosts.request(exchange.request(), NO_BODY) != null;
    CopyRoutes.addLoadId(exchange.request(), options);
    Prefer prefer = exchange.request().prefer();
    String owner = exchange.request().user().name();
    BodyBytes body = new BodyBytes(exchange.request());
    String id = files.intake().take(owner, body);
    StatementOrder order =
        StatementOrder.of(
                CopySql.load(table, columns, "stream:" + id, options, where),
                LoadReportEncoder.FORMAT,
                body.digest())
            .whenEnded(() -> files.forget(owner, id))
            .waiting(KEYED_WAIT);
    if (options.hasBatches()) {
      order = order.commitsItself(options.value("load_id"));
    }
    if (isKeyed || prefer.respondAsync() || prefer.waitSeconds() >= 0) {
      door.job(exchange, order);
    } else {
      door.stream(exchange, order);
    }
  }

  private static List<String> columns(ExchangeRequest request) {
    @Nullable String columns = request.parameter("columns");
    return columns == null ? List.of() : CopyOptionList.list(columns);
  }

  /// Parameters of the content type: `charset`, and `header` of CSV (RFC 4180).
  private static void addTypeParameters(
      ExchangeRequest request, FileKind kind, CopyOptionList options) {
    String[] parts = String.valueOf(request.header("Content-Type")).split(";", -1);
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip().toLowerCase(Locale.ROOT).replace("\"", "");
      switch (parameter) {
        case "", "charset=utf-8", "charset=us-ascii" -> {}
        case "header=present", "header=absent" -> {
          if (kind == FileKind.CSV && !options.has("header")) {
            options.put("header", String.valueOf(parameter.endsWith("present")));
          }
        }
        default -> {
          if (parameter.startsWith("charset=")) {
            throw Problem.of(
                415, "unsupported-media-type", "Unsupported media type", "texts are in UTF-8");
          }
        }
      }
    }
  }

  private void dump(Exchange exchange) {
    TableName table = TableName.parse(exchange.request().variable("table"));
    FileKind kind =
        FileKind.ofMediaType(
            Accept.parse(exchange.request().header("Accept"))
                .choose(FileKind.mediaTypes())
                .mediaType());
    CopyOptionList options = new CopyOptionList(CopyOptionList.DUMP);
    options.put("format", kind.option());
    options.addParameters(exchange.request());
    String source = CopySql.target(table, columns(exchange.request()));
    if (exchange.request().isHead()) {
      // The same rights and fields, and no rows that nobody gets.
      source = CopySql.query("SELECT * FROM " + table.quoted() + " LIMIT 0");
    }
    exchange.answer().header("Vary", "Accept");
    door.stream(
        exchange,
        StatementOrder.of(CopySql.dump(source, null, options), kind.answer(options), NO_BODY));
  }
}
