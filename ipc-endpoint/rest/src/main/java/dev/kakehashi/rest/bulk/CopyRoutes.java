package dev.kakehashi.rest.bulk;

import dev.kakehashi.rest.job.http.IdempotentPosts;
import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeRequest;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.sql.AnswerFormat;
import dev.kakehashi.rest.sql.StatementDoor;
import dev.kakehashi.rest.sql.StatementOrder;
import dev.kakehashi.rest.sql.TableName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// `POST /v1/load`, `POST /v1/dump`: COPY of files in locations, always as a job. `GET /v1/inspect`: what is in files. Thread-safe.
public final class CopyRoutes {
  private static final String INSPECT = "SELECT * FROM kakehashi_inspect($1, $2)";
  private static final int MAX_COLUMNS = 1_600;
  private static final byte[] NO_BODY = {};

  private final StatementDoor door;

  public CopyRoutes(StatementDoor door) {
    this.door = door;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/load")
            .accepts("application/json")
            .handleDirectly((exchange, body) -> load(exchange, body)),
        Route.post("/v1/dump")
            .accepts("application/json")
            .handleDirectly((exchange, body) -> dump(exchange, body)),
        Route.get("/v1/inspect")
            .parameters("location")
            .parameters(CopyOptionList.LOAD.toArray(new String[0]))
            .handleDirectly((exchange, body) -> inspect(exchange)));
  }

  private void load(Exchange exchange, byte[] body) {
    CopyBody read = CopyBody.read(body, true);
    addLoadId(exchange.request(), read.options);
    StatementOrder order =
        StatementOrder.of(
            CopySql.load(
                read.tableName(),
                read.columns,
                CopyBody.required("from", read.location),
                read.options,
                read.where),
            AnswerFormat.of(exchange.request()),
            body);
    StatementOrder whole =
        read.options.hasBatches() ? order.commitsItself(read.options.value("load_id")) : order;
    exchange.block(blocking -> door.job(blocking, whole));
  }

  /// A load in batches under a key goes on under a name of the key's. So a request that is repeated after a crash loads each row once.
  static void addLoadId(ExchangeRequest request, CopyOptionList options) {
    @Nullable String key = request.header(IdempotentPosts.FIELD);
    if (key != null && options.hasBatches() && !options.has("load_id")) {
      options.put(
          "load_id",
          "key-"
              + UUID.nameUUIDFromBytes(
                  (request.target() + "\n" + key).getBytes(StandardCharsets.UTF_8)));
    }
  }

  private void dump(Exchange exchange, byte[] body) {
    CopyBody read = CopyBody.read(body, false);
    String source;
    if (read.query != null) {
      if (read.table != null || !read.columns.isEmpty()) {
        throw Problem.badRequest("there are both \"query\" and \"table\" or \"columns\"");
      }
      source = CopySql.query(read.query);
    } else {
      source = CopySql.target(read.tableName(), read.columns);
    }
    // Another format is the engine's to refuse.
    @Nullable FileKind kind =
        read.location == null ? FileKind.ofOption(read.options.value("format")) : null;
    AnswerFormat format =
        kind == null ? AnswerFormat.of(exchange.request()) : kind.answer(read.options);
    StatementOrder order =
        StatementOrder.of(CopySql.dump(source, read.location, read.options), format, body);
    exchange.block(blocking -> door.job(blocking, order));
  }

  private void inspect(Exchange exchange) {
    @Nullable String location = exchange.request().parameter("location");
    if (location == null) {
      throw Problem.badRequest("query parameter \"location\" is missing");
    }
    CopyOptionList options = new CopyOptionList(CopyOptionList.LOAD);
    options.addParameters(exchange.request());
    door.stream(
        exchange,
        StatementOrder.of(
            INSPECT, AnswerFormat.of(exchange.request()), NO_BODY, location, options.sql()));
  }

  /// A JSON body. Each member is read once.
  private static final class CopyBody {
    private static final List<String> LOAD =
        List.of("table", "columns", "from", "format", "where", "options");
    private static final List<String> DUMP =
        List.of("table", "columns", "query", "to", "format", "options");

    private final CopyOptionList options;
    private final List<String> columns = new ArrayList<>();
    private @Nullable String table;
    private @Nullable String query;
    private @Nullable String location;
    private @Nullable String where;

    private CopyBody(CopyOptionList options) {
      this.options = options;
    }

    /// @throws Problem 400
    static CopyBody read(byte[] body, boolean isLoad) {
      CopyBody read =
          new CopyBody(new CopyOptionList(isLoad ? CopyOptionList.LOAD : CopyOptionList.DUMP));
      return StrictJson.read(
          body,
          json -> {
            json.object(isLoad ? LOAD : DUMP, name -> read.member(json, name));
            return read;
          });
    }

    private void member(StrictJson json, String name) throws IOException {
      switch (name) {
        case "table" -> table = json.text();
        case "columns" -> json.array(MAX_COLUMNS, index -> columns.add(json.text()));
        case "query" -> query = json.text();
        case "where" -> where = json.text();
        case "format" -> options.put("format", json.text());
        case "options" -> options.read(json);
        default -> location = json.text();
      }
    }

    TableName tableName() {
      return TableName.parse(required("table", table));
    }

    static String required(String name, @Nullable String value) {
      if (value == null) {
        throw Problem.badRequest("the request has no \"" + name + "\"");
      }
      return value;
    }
  }
}
