package dev.kakehashi.protocol.generator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.generator.Schema.EnumType;
import dev.kakehashi.protocol.generator.Schema.Field;
import dev.kakehashi.protocol.generator.Schema.Group;
import dev.kakehashi.protocol.generator.Schema.Message;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The schema of each protocol version is kept in `golden/schemas`. A version is never changed, and later ones append.
final class SchemaVersionsTest {
  private static final Path PROTOCOL = Repository.root().resolve("ipc-endpoint/protocol");
  private static final Path GOLDEN = PROTOCOL.resolve("golden");
  private static final Path SCHEMAS = GOLDEN.resolve("schemas");

  /// Version of a part whose schema does not say it.
  private static final int UNSAID = Integer.MAX_VALUE;

  /// A field, value, bit or text of a schema, as bytes show it.
  ///
  /// @param name with that of its message or type
  /// @param since version that has brought it
  private record Part(String name, int since, String form) {}

  private static Schema present() throws IOException {
    return SchemaReader.read(PROTOCOL.resolve("schema/messages.xml"));
  }

  private static Schema kept(int version) throws IOException {
    Schema schema = SchemaReader.read(SCHEMAS.resolve("messages-" + version + ".xml"));
    assertEquals(version, schema.version());
    return schema;
  }

  @Test
  void shouldNotChangeWithoutAnotherVersion() throws IOException {
    Schema present = present();
    Path file = SCHEMAS.resolve("messages-" + present.version() + ".xml");
    assertTrue(Files.exists(file), () -> "a new version keeps its schema as " + file);
    assertEquals(parts(kept(present.version())), parts(present), "raise the version");
  }

  @Test
  void shouldOnlyAppendToEarlierVersions() throws IOException {
    Schema present = present();
    for (int version = 1; version < present.version(); version++) {
      Schema before = kept(version);
      assertAppended(parts(before), parts(present), names(before), version);
    }
  }

  /// Mapped memory has room for new fields within its blocks, which an older side leaves at zero.
  @Test
  void shouldOnlyAppendToLayouts() throws IOException {
    Schema present = SchemaReader.read(PROTOCOL.resolve("schema/layouts.xml"));
    Schema kept = SchemaReader.read(SCHEMAS.resolve("layouts-" + present.version() + ".xml"));
    assertEquals(kept.version(), present.version());
    assertEquals(List.of(), missing(parts(kept), parts(present)));
    for (Message message : kept.messages()) {
      assertEquals(message.block().bytes(), message(present, message.name()).block().bytes());
    }
  }

  private static Message message(Schema schema, String name) {
    return schema.messages().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static void assertAppended(
      List<Part> before, List<Part> now, Set<String> messages, int version) {
    assertEquals(List.of(), missing(before, now), "of version " + version);
    Set<String> known = before.stream().map(Part::name).collect(Collectors.toSet());
    // All of a new message is new, whatever its parts say.
    List<Part> unmarked =
        now.stream()
            .filter(part -> !known.contains(part.name()) && part.since() <= version)
            .filter(part -> messages.contains(part.name().replaceFirst("\\..*", "")))
            .toList();
    assertEquals(List.of(), unmarked, "newer than version " + version + ", and do not say so");
  }

  private static List<Part> missing(List<Part> before, List<Part> now) {
    return before.stream().filter(part -> !now.contains(part)).toList();
  }

  private static Set<String> names(Schema schema) {
    return schema.messages().stream().map(Message::name).collect(Collectors.toSet());
  }

  private static List<Part> parts(Schema schema) {
    List<Part> parts = new ArrayList<>();
    for (EnumType type : schema.enums()) {
      for (Schema.Value value : type.values()) {
        parts.add(
            new Part(
                type.name() + "." + value.name(), UNSAID, type.encoding() + " " + value.number()));
      }
    }
    for (Schema.SetType type : schema.sets()) {
      for (Schema.Value bit : type.bits()) {
        parts.add(
            new Part(type.name() + "." + bit.name(), UNSAID, type.encoding() + " " + bit.number()));
      }
    }
    for (Message message : schema.messages()) {
      parts.add(new Part(message.name(), UNSAID, "template " + message.id()));
      fields(parts, message.name(), message.block().fields());
      for (int g = 0; g < message.groups().size(); g++) {
        Group group = message.groups().get(g);
        String name = message.name() + "." + group.name();
        parts.add(new Part(name, group.since(), "group " + g));
        fields(parts, name, group.block().fields());
        texts(parts, name, group.data());
      }
      texts(parts, message.name(), message.data());
    }
    return parts;
  }

  private static void fields(List<Part> parts, String of, List<Field> fields) {
    for (Field field : fields) {
      parts.add(
          new Part(
              of + "." + field.name(),
              field.since(),
              "%s at %d %s%s"
                  .formatted(
                      field.primitive(), field.offset(), field.enumType(), field.setType())));
    }
  }

  private static void texts(List<Part> parts, String of, List<Schema.Data> texts) {
    for (int d = 0; d < texts.size(); d++) {
      Schema.Data text = texts.get(d);
      parts.add(
          new Part(
              of + "." + text.name(),
              text.since(),
              "text %d, %s, %d bytes"
                  .formatted(d, text.utf8() ? "UTF-8" : "bytes", text.maxBytes())));
    }
  }

  @Test
  void shouldHaveARecordingOfEachMessageOfEachVersion() throws IOException {
    for (int version = 1; version <= present().version(); version++) {
      Set<Integer> messages = new TreeSet<>();
      kept(version).messages().forEach(message -> messages.add(message.id()));
      Set<Integer> recorded = new TreeSet<>();
      try (Stream<Path> files = Files.list(GOLDEN.resolve("v" + version))) {
        for (Path file : files.filter(each -> each.toString().endsWith(".bin")).toList()) {
          ByteBuffer header = ByteBuffer.wrap(Files.readAllBytes(file));
          header.order(ByteOrder.LITTLE_ENDIAN);
          recorded.add(Short.toUnsignedInt(header.getShort(2)));
          assertEquals(version, header.getShort(6), file.toString());
        }
      }
      assertEquals(messages, recorded, "of version " + version);
    }
  }

  /// A bit that an older side knows means to it what it meant then.
  @Test
  void shouldKeepTheBitsOfCapabilities() throws IOException {
    int version = present().version();
    List<List<String>> now = bits(PROTOCOL.resolve("schema/capabilities.txt"));
    for (List<String> bit : bits(SCHEMAS.resolve("capabilities-" + version + ".txt"))) {
      assertTrue(now.contains(bit), bit + " is another one, or gone");
    }
  }

  /// Kind, name and number of each.
  private static List<List<String>> bits(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(line -> List.of(line.split("\\s+")).subList(0, 3))
        .toList();
  }
}
