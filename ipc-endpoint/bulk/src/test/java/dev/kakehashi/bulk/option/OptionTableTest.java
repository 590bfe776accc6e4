package dev.kakehashi.bulk.option;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionTableTest {
  private static CopyRequest.Option option(String name, String... values) {
    return new CopyRequest.Option(name, List.of(values), 17);
  }

  private static CopyOptions load(CopyRequest.Option... options) {
    return CopyOptions.of(new CopyRequest("in:x", List.of(options)), true, "x");
  }

  private static EngineException refused(boolean isLoad, CopyRequest.Option... options) {
    CopyRequest request = new CopyRequest("in:x", List.of(options));
    return assertThrows(
        EngineException.class,
        () -> new FileFormats().of(CopyOptions.of(request, isLoad, "x"), "x"));
  }

  @Test
  void shouldDocumentEveryOptionAsItIs() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("README.md"));
    List<String> documented =
        new ArrayList<>(lines.subList(lines.indexOf("## Options"), lines.size()));
    documented.removeIf(line -> !line.startsWith("| `"));
    List<String> expected = new ArrayList<>();
    for (CopyOption each : CopyOption.values()) {
      expected.add(each.tableLine());
    }
    assertEquals(String.join("\n", expected), String.join("\n", documented));
  }

  @Test
  void shouldRefuseUnknownOptionWithTheNearestAndItsPosition() {
    EngineException e = refused(true, option("delimeter", ","));
    assertEquals(ErrorCode.SYNTAX_ERROR, e.code());
    assertEquals("option \"delimeter\" not recognized", e.getMessage());
    assertEquals("Perhaps you meant \"delimiter\".", e.hint());
    assertEquals(17, e.position());
    assertEquals("", refused(true, option("program", "ls")).hint());
  }

  @Test
  void shouldRefuseOptionsInTheWrongPlaceAsPostgresqlDoes() {
    EngineException e = refused(false, option("on_error", "ignore"));
    assertEquals("COPY ON_ERROR cannot be used with COPY TO", e.getMessage());
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code());
    e = refused(true, option("format", "csv"), option("force_quote", "*"));
    assertEquals("COPY FORCE_QUOTE cannot be used with COPY FROM", e.getMessage());
    assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED, e.code());
    e = refused(true, option("quote", "'"));
    assertEquals("COPY QUOTE requires CSV mode", e.getMessage());
    e = refused(true, option("format", "parquet"), option("delimiter", ";"));
    assertEquals("COPY DELIMITER cannot be used with FORMAT parquet", e.getMessage());
    e = refused(false, option("format", "json"), option("header"));
    assertEquals("cannot specify HEADER in JSON mode", e.getMessage());
    assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED, e.code());
    e = refused(false, option("format", "json"), option("delimiter", ","));
    assertEquals("cannot specify DELIMITER in JSON mode", e.getMessage());
    assertEquals(ErrorCode.SYNTAX_ERROR, e.code());
    e = refused(false, option("format", "json"), option("quote", "'"));
    assertEquals("COPY QUOTE requires CSV mode", e.getMessage());
    e = refused(true, option("format", "json"));
    assertEquals("COPY FORMAT JSON is not supported for COPY FROM", e.getMessage());
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code());
    e = refused(false, option("format", "csv"), option("force_array"));
    assertEquals("COPY FORCE_ARRAY can only be used with JSON mode", e.getMessage());
    e = refused(true, option("format", "xml"));
    assertEquals("COPY format \"xml\" not recognized", e.getMessage());
  }

  @Test
  void shouldRefuseValuesOfTheWrongKind() {
    assertEquals(
        "freeze requires a Boolean value", refused(true, option("freeze", "maybe")).getMessage());
    assertEquals("delimiter requires a parameter", refused(true, option("delimiter")).getMessage());
    assertEquals(
        "batch_rows requires a numeric value",
        refused(true, option("batch_rows", "many")).getMessage());
    assertEquals(
        "batch_rows must be at least 0", refused(true, option("batch_rows", "-1")).getMessage());
    assertEquals(
        "reject_ratio must be between 0 and 1",
        refused(true, option("reject_ratio", "NaN")).getMessage());
    assertEquals(
        "header requires a Boolean value, an integer value greater than or equal to zero, or the string \"match\"",
        refused(true, option("header", "maybe")).getMessage());
    assertEquals(
        "a negative integer value cannot be specified for header",
        refused(true, option("header", "-1")).getMessage());
    assertEquals(
        "cannot use multi-line header in COPY TO",
        refused(false, option("header", "2")).getMessage());
    assertEquals(
        "match_by name needs header",
        refused(true, option("header", "2"), option("match_by", "name")).getMessage());
    assertEquals(
        "invalid value for file_size: \"10 pages\"",
        refused(false, option("file_size", "10 pages")).getMessage());
    assertEquals(
        "file_size is out of range: \"99999999TB\"",
        refused(false, option("file_size", "99999999TB")).getMessage());
    assertEquals(
        "conflicting or redundant options",
        refused(true, option("null", "x"), option("null", "y")).getMessage());
  }

  @Test
  void shouldTakeTheFormatByTheEndingOnlyWhereNoOtherCouldBe() {
    for (BulkFormat format : BulkFormat.values()) {
      String name = "x." + format.ending();
      CopyOptions options = CopyOptions.of(new CopyRequest("in:" + name, List.of()), true, name);
      assertEquals(format.isColumnar() ? format : BulkFormat.TEXT, options.format());
    }
  }

  @Test
  void shouldReadNumbersWithUnits() {
    CopyRequest request =
        new CopyRequest("out:x/", List.of(option("file_size", "256MB"), option("workers", "3")));
    CopyOptions options = CopyOptions.of(request, false, "");
    assertEquals(256L << 20, options.bytes(CopyOption.FILE_SIZE));
    assertEquals(3, options.count(CopyOption.WORKERS, 0, 10, 0));
    assertTrue(load(option("freeze")).isOn(CopyOption.FREEZE));
    assertEquals(List.of("a", "b"), load(option("files", "a", "b")).names(CopyOption.FILES));
    assertEquals(0, Arrays.stream(CopyOption.values()).filter(load()::has).count());
  }
}
