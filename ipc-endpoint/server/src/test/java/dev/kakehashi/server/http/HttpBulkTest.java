package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.testsupport.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Files are loaded and dumped over HTTP: bodies, locations, uploads in pieces.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpBulkTest {
  private static final String ROWS = "/v1/tables/t/rows";
  private static final String CSV = "Content-Type: text/csv";
  private static final String JSON = "Content-Type: application/json";
  private static final String PARQUET = "application/vnd.apache.parquet";
  private static final byte[] THREE = bytes("1,a\n2,\"b,\"\n3,\n");

  @TempDir private static Path files;
  private static HttpFixture door;
  private HttpConnection alice;

  @BeforeAll
  static void start() throws IOException {
    door =
        HttpFixture.start(
            "bulk_locations", "files:" + files + ":readwrite", "bulk_user_upload_space", "8MB");
    door.table(0);
    try (HttpConnection first = HttpConnection.open(door.endpoint().uri(), HttpConnection.ALICE)) {
      // From here on rights count, and bob has none.
      first.sql("create role readers").expect(200);
    }
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @BeforeEach
  void connect() throws IOException {
    alice = door.alice();
    alice.sql("delete from t").expect(200);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private HttpAnswer load(byte[] body, String... fields) throws IOException {
    return alice.send("POST " + ROWS, body, fields).answer();
  }

  private String count() throws IOException {
    return alice.sql("select count(*) from t").value();
  }

  /// Uploads and streams that are kept.
  private static List<Path> kept() throws IOException {
    try (Stream<Path> found = Files.list(door.endpoint().dataDirectory().resolve("uploads"))) {
      return found.toList();
    }
  }

  private HttpAnswer json(String route, String body, String... fields) throws IOException {
    String[] all = java.util.Arrays.copyOf(fields, fields.length + 1);
    all[fields.length] = JSON;
    return alice.send("POST " + route, bytes(body.replace('\'', '"')), all).answer();
  }

  /// The rows of a job that the request has waited for.
  private static List<List<String>> waited(HttpAnswer answer) {
    return answer.expect(200).rows();
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  @Test
  void shouldLoadABodyAndSayHowMany() throws IOException {
    HttpAnswer answer = load(THREE, CSV).expect(200);
    assertEquals("{\"read\":3,\"loaded\":3,\"rejected\":0,\"filtered\":0}", answer.text());
    assertEquals("committed", answer.state());
    assertEquals(
        List.of(List.of("1", "a"), List.of("2", "b,"), List.of("3", "null")),
        alice.sql("select * from t order by id").rows());
    assertEquals(List.of(), kept());
  }

  @Test
  void shouldTakeOptionsAndRejectRows() throws IOException {
    String query =
        "?delimiter=%3B&columns=v,id&on_error=ignore&reject_file=files:bad.csv&where=id%20%3C%203";
    HttpAnswer answer =
        alice
            .send(
                "POST " + ROWS + query,
                bytes("v;id\na;1\nb;x\nc;3\nd;2\n"),
                CSV + "; header=present")
            .answer()
            .expect(200);
    assertEquals(
        "{\"read\":4,\"loaded\":2,\"rejected\":1,\"filtered\":1,\"rejectFile\":\"files:bad.csv\"}",
        answer.text());
    String rejected = Files.readString(files.resolve("bad.csv"));
    assertTrue(rejected.contains("22P02") && rejected.contains("b;x"), rejected);
    Files.delete(files.resolve("bad.csv"));
    // Without it the first such row ends the load, and nothing is there of it.
    alice.sql("delete from t").expect(200);
    load(bytes("1,a\nx,b\n"), CSV).problem(422, "22P02");
    load(bytes("1,a\n1,b\n"), CSV).problem(422, "23505");
    assertEquals("0", count());
    assertEquals(List.of(), kept());
  }

  @Test
  void shouldGiveAndTakeTheSameRowsInEveryFormat() throws IOException {
    alice
        .sql(
            "insert into t select i, case when i % 3 > 0 then 'ä\"' || i end from generate_series(1, 5000) i")
        .expect(200);
    String sum = "select count(*), sum(id), count(v), sum(length(v)) from t";
    List<List<String>> rows = alice.sql(sum).rows();
    for (String type :
        List.of(
            PARQUET,
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.arrow.file",
            "text/csv")) {
      HttpAnswer file = alice.get(ROWS, "Accept: " + type).expect(200);
      assertTrue(file.header("Content-Type").startsWith(type), file::toString);
      alice.sql("delete from t").expect(200);
      assertEquals(
          "5000",
          load(file.body(), "Content-Type: " + type).expect(200).json().path("loaded").asText());
      assertEquals(rows, alice.sql(sum).rows(), type);
    }
    HttpConnection.Head head =
        door.alice().send("HEAD " + ROWS, new byte[0], "Accept: " + PARQUET).head();
    assertEquals(200, head.status());
    assertEquals(PARQUET, head.headers().get("content-type"));
    alice.get(ROWS, "Accept: image/png").problem(406, "");
    alice.get("/v1/tables/nobody/rows", "Accept: text/csv").problem(400, "42P01");
  }

  @Test
  void shouldBePartOfTheTransaction() throws IOException {
    HttpAnswer begun = load(THREE, CSV, HttpConnection.within("begin")).expect(200);
    assertEquals("active", begun.state());
    String handle = begun.handle();
    load(bytes("4,d\n"), CSV, HttpConnection.in(handle)).expect(200);
    assertEquals("0", count());
    assertEquals("4", alice.sql("select count(*) from t", HttpConnection.in(handle)).value());
    alice.post("/v1/transactions/" + handle + "/rollback").expect(200);
    assertEquals("0", count());

    handle = load(THREE, CSV, HttpConnection.within("begin")).expect(200).handle();
    assertEquals(
        "committed", load(bytes("4,d\n"), CSV, HttpConnection.ending(handle)).expect(200).state());
    assertEquals("4", count());
    // No commit in disguise.
    handle = load(bytes("5,e\n"), CSV, HttpConnection.within("begin")).expect(200).handle();
    String abort = HttpConnection.within("abort;handle=\"" + handle + "\"");
    load(bytes("6,f\n"), CSV, abort).expect(400);
    alice.sql("insert into t values (7)", abort, "Prefer: wait=10").expect(400);
    alice.post("/v1/transactions/" + handle + "/rollback").expect(200);
    assertEquals("4", count());
    load(THREE, CSV, HttpConnection.in("0".repeat(32))).problem(404, "25P01");
  }

  @Test
  void shouldUndoContentCodings() throws IOException {
    load(gzip(THREE), CSV, "Content-Encoding: gzip").expect(200);
    assertEquals("3", count());
    byte[] broken = gzip(THREE);
    broken = java.util.Arrays.copyOf(broken, broken.length - 9);
    load(broken, CSV, "Content-Encoding: gzip").problem(400, "");
    load(THREE, CSV, "Content-Encoding: zstd").problem(400, "");
    HttpAnswer unknown = load(THREE, CSV, "Content-Encoding: br").expect(415);
    assertEquals("gzip, zstd", unknown.header("Accept-Encoding"));
    load(THREE, JSON).problem(415, "");
    load(THREE, CSV + "; charset=latin1").problem(415, "");
    alice.send("POST " + ROWS, new byte[0]).answer().problem(415, "");
    assertEquals("3", count());
    assertEquals(List.of(), kept());
  }

  /// The part of a body that has come is on disk, and goes with its connection.
  @Test
  void shouldLoadNothingOfABodyThatEndsEarly() throws IOException {
    HttpConnection other = door.alice();
    StringBuilder start = new StringBuilder();
    start.append("POST ").append(ROWS).append(" HTTP/1.1\r\nHost: localhost\r\n");
    start.append(HttpConnection.ALICE).append(CSV).append("\r\nContent-Length: 3000000\r\n\r\n");
    start.append("1,a\n".repeat(200_000));
    other.send(bytes(start.toString()));
    Await.until("some of the body is on disk", () -> !isNothingKept());
    other.close();
    Await.until("it is removed", HttpBulkTest::isNothingKept);
    assertEquals("0", count());
  }

  private static boolean isNothingKept() {
    try {
      return kept().isEmpty();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void shouldTakeNoMoreThanTheSpaceOfAUser() throws IOException {
    byte[] long9 = new byte[9 << 20];
    java.util.Arrays.fill(long9, (byte) 'x');
    HttpConnection announced = door.alice();
    announced.send(
        bytes(
            "POST "
                + ROWS
                + " HTTP/1.1\r\nHost: localhost\r\n"
                + HttpConnection.ALICE
                + CSV
                + "\r\nContent-Length: 9437184\r\n\r\n"));
    announced.answer().problem(413, "");
    // A bomb shows its size when it is unpacked.
    load(gzip(long9), CSV, "Content-Encoding: gzip").problem(507, "53400");
    assertEquals(List.of(), kept());
  }

  @Test
  void shouldTakeEffectOnceUnderAKey() throws IOException {
    String key = "Idempotency-Key: \"rows-1\"";
    HttpAnswer first = load(THREE, CSV, key).expect(200);
    HttpAnswer again = load(THREE, CSV, key).expect(200);
    assertEquals(first.text(), again.text());
    assertEquals(3, first.json().path("loaded").asInt());
    assertEquals(first.header("Content-Location"), again.header("Content-Location"));
    assertEquals("3", count());
    load(bytes("9,z\n"), CSV, key).problem(422, "");
    assertEquals("3", count());
    assertEquals(List.of(), kept());

    HttpAnswer job = load(bytes("4,d\n"), CSV, "Prefer: respond-async").expect(202);
    JsonNode ended = alice.get(job.header("Location") + "?wait=50").expect(200).json();
    assertEquals("succeeded", ended.path("state").asText(), ended::toString);
    assertEquals("4", count());
    assertEquals(List.of(), kept());
  }

  @Test
  void shouldDumpAndLoadLocationsAsJobs() throws IOException {
    load(THREE, CSV).expect(200);
    String dump =
        "{'table':'t','to':'files:dumped.parquet','format':'parquet','options':{'codec':'none'}}";
    HttpAnswer accepted = json("/v1/dump", dump).expect(202);
    JsonNode job = alice.get(accepted.header("Location") + "?wait=50").expect(200).json();
    assertEquals("succeeded", job.path("state").asText(), job::toString);
    List<List<String>> written = alice.get(job.path("files").get(0).path("href").asText()).rows();
    assertEquals("files:dumped.parquet", written.getFirst().getFirst());
    json("/v1/dump", dump, "Prefer: wait=50").problem(409, "58P02");

    alice.sql("delete from t").expect(200);
    String load =
        "{'table':'t','columns':['v','id'],'from':'files:dumped.parquet','format':'parquet','where':'id > 1'}";
    assertEquals(
        List.of("3", "2", "0", "1", "null", "null"),
        waited(json("/v1/load", load, "Prefer: wait=50")).getFirst());
    json("/v1/load", load.replace("dumped", "nowhere"), "Prefer: wait=50").problem(404, "58P01");
    Files.writeString(files.resolve("broken.parquet"), "PAR1 no PAR1");
    json("/v1/load", load.replace("dumped", "broken"), "Prefer: wait=50").problem(422, "22P04");
    assertEquals("2", count());

    // Without a location the file is the job's.
    HttpAnswer mine =
        json(
            "/v1/dump",
            "{'query':'select 7 as a, x from (values (true)) as v(x) -- all','format':'csv','options':{'header':true,'force_quote':['a']}}",
            "Prefer: wait=50");
    assertEquals("a,x\n\"7\",t\n", mine.expect(200).text());
    assertEquals("text/csv; charset=utf-8; header=present", mine.header("Content-Type"));
    HttpAnswer large =
        json(
            "/v1/dump",
            "{'query':'select i, repeat(md5(i::text), 20) as m from generate_series(1, 20000) i','format':'parquet','options':{'codec':'none'}}");
    job = alice.get(large.header("Location") + "?wait=50").expect(200).json();
    assertEquals(1, job.path("files").size(), job::toString);
    assertEquals(
        "application/vnd.apache.parquet", job.path("files").get(0).path("mediaType").asText());
    assertTrue(job.path("rows").isNull(), job::toString);
    byte[] whole = alice.get(job.path("files").get(0).path("href").asText()).expect(200).body();
    Files.write(files.resolve("large.parquet"), whole);
    alice.sql("create table large (i int4, m text)").expect(200);
    assertEquals(
        "20000", alice.sql("copy large from 'files:large.parquet'").rows().getFirst().getFirst());
    alice.sql("drop table large").expect(200);
  }

  @Test
  void shouldRefuseWhatItDoesNotKnow() throws IOException {
    assertEquals(
        "Perhaps you meant \"options\".",
        json("/v1/load", "{'option':{}}").problem(400, "").path("hint").asText());
    JsonNode option =
        json("/v1/load", "{'table':'t','from':'files:a','options':{'headr':true}}")
            .problem(400, "42601");
    assertEquals("/options/headr", option.path("pointer").asText());
    assertTrue(option.path("hint").asText().contains("header"), option::toString);
    json("/v1/load", "{'table':'t','from':'files:a','format':'csv','options':{'format':'csv'}}")
        .problem(400, "");
    json("/v1/load", "{'table':'t'}").problem(400, "");
    json("/v1/load", "{'from':'files:a'}").problem(400, "");
    json("/v1/dump", "{'table':'t','query':'select 1','to':'files:a'}").problem(400, "");
    json("/v1/load", "{'table':'t','from':'files:a','options':{'header':{}}}").problem(400, "");
    alice.send("POST " + ROWS + "?headr=true", THREE, CSV).answer().problem(400, "");
    alice.send("POST " + ROWS + "?codec=zstd", THREE, CSV).answer().problem(400, "");
    json("/v1/load", "{'table':'t','from':'/etc/passwd'}", "Prefer: wait=50").problem(400, "42602");
    json("/v1/load", "{'table':'t','from':'nowhere:a'}", "Prefer: wait=50").problem(400, "42704");
    assertEquals("0", count());
  }

  /// Names and texts stay names and texts.
  @Test
  void shouldQuoteWhatItPutsIntoTheStatement() throws IOException {
    String name = "o\"dd; drop table t --";
    alice.sql("create table \"" + name.replace("\"", "\"\"") + "\" (\"a\"\"b\" text)").expect(200);
    Files.writeString(files.resolve("it's.csv"), "'; drop table t; --\n");
    String body =
        "{\"table\":\"o\\\"dd; drop table t --\",\"columns\":[\"a\\\"b\"],\"from\":\"files:it's.csv\",\"options\":{\"delimiter\":\"|\",\"null\":\"'\"}}";
    alice.send("POST /v1/load", bytes(body), JSON, "Prefer: wait=50").answer().expect(200);
    assertEquals(
        "'; drop table t; --",
        alice.sql("select * from \"" + name.replace("\"", "\"\"") + "\"").value());
    assertEquals("0", count());
  }

  @Test
  void shouldLoadInBatchesOutsideOfATransaction() throws IOException {
    StringBuilder many = new StringBuilder();
    for (int i = 1; i <= 3000; i++) {
      many.append(i).append(",x\n");
    }
    Files.writeString(files.resolve("many.csv"), many);
    String load =
        "{'table':'t','from':'files:many.csv','format':'csv','options':{'batch_rows':1000}}";
    HttpAnswer keyed =
        json("/v1/load", load, "Prefer: wait=50", "Idempotency-Key: \"batches\"").expect(200);
    assertEquals("3000", keyed.rows().getFirst().get(1));
    // It has a name, under which a crash would let it go on.
    assertTrue(keyed.rows().getFirst().get(5).startsWith("key-"), keyed::toString);
    json("/v1/load", load, "Prefer: wait=50", HttpConnection.within("begin")).problem(409, "25001");
    alice.sql("delete from t").expect(200);

    // A body that is sent again under the name of its load is there already.
    String rows = ROWS + "?batch_rows=1000&load_id=sent";
    HttpAnswer first = alice.send("POST " + rows, bytes(many.toString()), CSV).answer().expect(200);
    HttpAnswer again = alice.send("POST " + rows, bytes(many.toString()), CSV).answer().expect(200);
    assertEquals(first.text(), again.text());
    assertEquals("sent", again.json().path("loadId").asText());
    assertEquals("3000", count());
    alice.send("POST " + rows, THREE, CSV).answer().problem(409, "55000");
  }

  @Test
  void shouldInspectFiles() throws IOException {
    Files.writeString(files.resolve("some.csv"), "id;name\n1;a\n");
    HttpAnswer found =
        alice
            .get("/v1/inspect?location=files:some.csv&format=csv&delimiter=%3B&header=true")
            .expect(200);
    assertTrue(found.text().contains("CREATE TABLE"), found::toString);
    alice.get("/v1/inspect").problem(400, "");
    alice.get("/v1/inspect?location=files:none.csv").problem(404, "58P01");
    alice.get("/v1/inspect?location=files:some.csv&delimeter=%3B").problem(400, "");
  }

  @Test
  void shouldAskForTheRightsOfTheUser() throws IOException {
    HttpConnection bob = door.bob();
    Files.writeString(files.resolve("one.csv"), "1,a\n");
    bob.send("POST " + ROWS, THREE, CSV).answer().problem(403, "42501");
    bob.get(ROWS, "Accept: text/csv").problem(403, "42501");
    alice.sql("grant insert, select on t to bob").expect(200);
    try {
      bob.send("POST " + ROWS, THREE, CSV).answer().expect(200);
      assertEquals("1,a\n2,\"b,\"\n3,\n", bob.get(ROWS, "Accept: text/csv").expect(200).text());
      alice.sql("delete from t").expect(200);
      byte[] load = bytes("{\"table\":\"t\",\"from\":\"files:one.csv\",\"format\":\"csv\"}");
      byte[] dump = bytes("{\"table\":\"t\",\"to\":\"files:two.csv\",\"format\":\"csv\"}");
      String wait = "Prefer: wait=50";
      bob.send("POST /v1/load", load, JSON, wait).answer().problem(403, "42501");
      bob.send("POST /v1/dump", dump, JSON, wait).answer().problem(403, "42501");
      bob.get("/v1/inspect?location=files:one.csv").problem(403, "42501");
      alice.sql("grant read on location files to bob").expect(200);
      bob.send("POST /v1/load", load, JSON, wait).answer().expect(200);
      bob.send("POST /v1/dump", dump, JSON, wait).answer().problem(403, "42501");
      assertFalse(Files.exists(files.resolve("two.csv")));
    } finally {
      alice.sql("revoke all on t from bob").expect(200);
      alice.sql("revoke read on location files from bob").expect(200);
    }
  }
}
