package dev.kakehashi.protocol.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.protocol.RowBatchLayout;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import uk.co.real_logic.sbe.xml.MessageSchema;
import uk.co.real_logic.sbe.xml.ParserOptions;
import uk.co.real_logic.sbe.xml.XmlSchemaParser;

/// Every offset of `schema/layouts.xml` has a constant of the same name and value, and the other way round.
class LayoutsTest {
  private static final Map<String, Class<?>> CLASSES =
      Map.ofEntries(
          Map.entry("ControlPage", ControlPageLayout.class),
          Map.entry("DoorbellPage", DoorbellPageLayout.class),
          Map.entry("ResponseSlot", ResponseSlotLayout.class),
          Map.entry("BatchDescriptor", BatchDescriptorLayout.class),
          Map.entry("RowBatchHeader", RowBatchLayout.class),
          Map.entry("StoreHead", StoreHeadLayout.class),
          Map.entry("StoreIndex", StoreIndexLayout.class),
          Map.entry("StoreTable", StoreTableLayout.class),
          Map.entry("StorePage", StorePageLayout.class),
          Map.entry("StorePageColumn", StorePageColumnLayout.class),
          Map.entry("StoreDictionary", StoreDictionaryLayout.class),
          Map.entry("StoreNode", StoreNodeLayout.class));

  @Test
  void shouldAgreeWithSchema() throws Exception {
    MessageSchema schema = parse();
    for (var message : schema.messages()) {
      Map<String, Integer> expected = new TreeMap<>();
      for (var field : message.fields()) {
        String name = field.name().replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
        expected.put(name + "_OFFSET", field.computedOffset());
      }
      Class<?> layout = java.util.Objects.requireNonNull(CLASSES.get(message.name()));
      Map<String, Integer> actual = new TreeMap<>();
      for (Field field : layout.getFields()) {
        if (field.getName().endsWith("_OFFSET")) {
          actual.put(field.getName(), field.getInt(null));
        }
      }
      assertEquals(expected, actual, message.name());
    }
    assertEquals(CLASSES.size(), schema.messages().size());
  }

  @Test
  void shouldHaveBlockLengthsOfSchema() throws Exception {
    Map<String, Integer> blocks = new TreeMap<>();
    for (var message : parse().messages()) {
      blocks.put(message.name(), message.blockLength());
    }
    assertEquals(
        Map.ofEntries(
            Map.entry("ControlPage", ControlPageLayout.PAGE_BYTES),
            Map.entry("DoorbellPage", DoorbellPageLayout.PAGE_BYTES),
            Map.entry("ResponseSlot", ResponseSlotLayout.HEAD_BYTES),
            Map.entry("BatchDescriptor", BatchDescriptorLayout.DESCRIPTOR_BYTES),
            Map.entry("RowBatchHeader", RowBatchLayout.HEADER_BYTES),
            Map.entry("StoreHead", StoreHeadLayout.HEAD_BYTES),
            Map.entry("StoreIndex", StoreIndexLayout.CELL_BYTES),
            Map.entry("StoreTable", StoreTableLayout.CELL_BYTES),
            Map.entry("StorePage", StorePageLayout.PAGE_BYTES),
            Map.entry("StorePageColumn", StorePageColumnLayout.COLUMN_BYTES),
            Map.entry("StoreDictionary", StoreDictionaryLayout.CELL_BYTES),
            Map.entry("StoreNode", StoreNodeLayout.HEAD_BYTES)),
        blocks);
  }

  private static MessageSchema parse() throws IOException {
    try (var in = Files.newInputStream(Path.of("schema/layouts.xml"))) {
      return XmlSchemaParser.parse(
          in, ParserOptions.builder().stopOnError(true).suppressOutput(true).build());
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
