package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.arrow.ArrowShape.Layout;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.bulk.value.TimeUnits;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Interval;
import org.apache.arrow.flatbuf.IntervalUnit;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Union;
import org.apache.arrow.flatbuf.UnionMode;
import org.jspecify.annotations.Nullable;

/// Reads schemas, with bounds: numbers of fields, depth, widths. Broken ones end with what the buffer throws, see [ArrowSource#broken].
final class ArrowSchemas {
  private static final int MAX_FIELDS = 1 << 16;
  private static final int MAX_DEPTH = 32;
  private static final int MAX_ENTRIES = 1000;
  private static final int MAX_WIDTH = 1 << 28;
  private static final int MAX_DIGITS = 76;
  private static final int LONG_DIGITS = 18;
  private static final int UUID_BYTES = 16;
  private static final int INTERVAL_FIELDS = 3;

  private int fields;

  private ArrowSchemas() {}

  /// The fields of a schema.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT, FEATURE_NOT_SUPPORTED for big-endian files
  static List<ArrowShape> shapes(Schema schema) {
    if (schema.endianness() != Endianness.Little) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "Arrow files of big-endian machines cannot be read");
    }
    ArrowSchemas schemas = new ArrowSchemas();
    List<ArrowShape> shapes = new ArrayList<>();
    for (int i = 0; i < schema.fieldsLength(); i++) {
      shapes.add(schemas.shape(required(schema.fields(i)), 0));
    }
    return List.copyOf(shapes);
  }

  /// Keys and values, the first ones of many.
  static Map<String, String> metadata(Schema schema) {
    Map<String, String> metadata = new HashMap<>();
    for (int i = 0; i < Math.min(schema.customMetadataLength(), MAX_ENTRIES); i++) {
      put(metadata, schema.customMetadata(i));
    }
    return metadata;
  }

  private static void put(Map<String, String> metadata, @Nullable KeyValue entry) {
    if (entry != null && entry.key() != null && entry.value() != null) {
      metadata.putIfAbsent(entry.key(), entry.value());
    }
  }

  static <T> T required(@Nullable T value) {
    if (value == null) {
      throw new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "Arrow metadata lacks a part");
    }
    return value;
  }

  private ArrowShape shape(Field field, int depth) {
    if (++fields > MAX_FIELDS || depth > MAX_DEPTH) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          "Arrow schema has more than %d fields, or is nested deeper than %d"
              .formatted(MAX_FIELDS, MAX_DEPTH));
    }
    List<ArrowShape> children = new ArrayList<>();
    for (int i = 0; i < field.childrenLength(); i++) {
      children.add(shape(required(field.children(i)), depth + 1));
    }
    String name = field.name() == null ? "" : field.name();
    ArrowShape plain = plain(field, name, children);
    DictionaryEncoding dictionary = field.dictionary();
    if (dictionary == null) {
      return plain;
    }
    Int index = dictionary.indexType();
    int bits = index == null ? Integer.SIZE : index.bitWidth();
    checkBits(bits);
    return new ArrowShape(
        name,
        plain.type(),
        plain.typeName(),
        plain.layout(),
        plain.width(),
        children,
        dictionary.id(),
        bits / Byte.SIZE,
        index == null || index.isSigned());
  }

  private static void checkBits(int bits) {
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT, "Arrow schema has integers of " + bits + " bits");
    }
  }

  private static int checkedWidth(int bytes) {
    if (bytes < 0 || bytes > MAX_WIDTH) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT, "Arrow schema has values of " + bytes + " bytes");
    }
    return bytes;
  }

  private static ArrowShape of(
      String name,
      @Nullable FileType type,
      String typeName,
      Layout layout,
      int width,
      List<ArrowShape> children) {
    return new ArrowShape(
        name,
        type,
        typeName,
        layout,
        width,
        List.copyOf(children),
        ArrowShape.NO_DICTIONARY,
        0,
        true);
  }

  private static ArrowShape fixed(String name, FileType type, int width) {
    return of(name, type, type.toString(), Layout.FIXED, width, List.of());
  }

  private static ArrowShape plain(Field field, String name, List<ArrowShape> children) {
    boolean json = "arrow.json".equals(extension(field));
    return switch (field.typeType()) {
      case Type.Null -> of(name, FileType.NULL, "null", Layout.NULL, 0, List.of());
      case Type.Bool -> of(name, FileType.BOOL, "bool", Layout.BITS, 0, List.of());
      case Type.Int -> {
        Int type = required((Int) field.type(new Int()));
        checkBits(type.bitWidth());
        yield fixed(
            name, FileType.integer(type.bitWidth(), type.isSigned()), type.bitWidth() / Byte.SIZE);
      }
      case Type.FloatingPoint -> {
        FloatingPoint type = required((FloatingPoint) field.type(new FloatingPoint()));
        int bits =
            switch (type.precision()) {
              case Precision.HALF -> 16;
              case Precision.SINGLE -> 32;
              default -> 64;
            };
        yield fixed(name, FileType.floating(bits), bits / Byte.SIZE);
      }
      case Type.Decimal -> decimal(name, required((Decimal) field.type(new Decimal())));
      case Type.Utf8 -> text(name, json, Layout.OFFSETS_32);
      case Type.LargeUtf8 -> text(name, json, Layout.OFFSETS_64);
      case Type.Utf8View -> text(name, json, Layout.VIEW);
      case Type.Binary -> bytes(name, Layout.OFFSETS_32);
      case Type.LargeBinary -> bytes(name, Layout.OFFSETS_64);
      case Type.BinaryView -> bytes(name, Layout.VIEW);
      case Type.FixedSizeBinary -> {
        FixedSizeBinary type = required((FixedSizeBinary) field.type(new FixedSizeBinary()));
        int width = checkedWidth(type.byteWidth());
        boolean uuid = width == UUID_BYTES && "arrow.uuid".equals(extension(field));
        yield fixed(name, uuid ? FileType.UUID : FileType.fixed(width), width);
      }
      case Type.Date -> {
        Date type = required((Date) field.type(new Date()));
        yield fixed(name, FileType.DATE, type.unit() == DateUnit.DAY ? 4 : 8);
      }
      case Type.Time -> {
        Time type = required((Time) field.type(new Time()));
        checkBits(type.bitWidth());
        yield fixed(name, FileType.time(units(type.unit())), type.bitWidth() / Byte.SIZE);
      }
      case Type.Timestamp -> {
        Timestamp type = required((Timestamp) field.type(new Timestamp()));
        String zone = type.timezone();
        yield fixed(
            name, FileType.timestamp(units(type.unit()), zone != null && !zone.isEmpty()), 8);
      }
      case Type.Interval -> interval(name, required((Interval) field.type(new Interval())));
      case Type.List -> list(name, Layout.LIST_32, 0, children);
      case Type.LargeList -> list(name, Layout.LIST_64, 0, children);
      case Type.FixedSizeList -> {
        FixedSizeList type = required((FixedSizeList) field.type(new FixedSizeList()));
        yield list(name, Layout.FIXED_LIST, checkedWidth(type.listSize()), children);
      }
      case Type.Struct_ ->
          isInterval(children)
              ? of(
                  name,
                  FileType.of(Kind.INTERVAL_MICROS),
                  "struct<months, days, micros>",
                  Layout.STRUCT,
                  0,
                  children)
              : of(name, null, "struct", Layout.STRUCT, 0, children);
      case Type.Duration -> of(name, null, "duration", Layout.FIXED, 8, List.of());
      case Type.Map -> of(name, null, "map", Layout.LIST_32, 0, children);
      case Type.ListView, Type.LargeListView ->
          of(name, null, "list view", Layout.LIST_VIEW, 0, children);
      case Type.RunEndEncoded -> of(name, null, "run-end encoded", Layout.RUN_END, 0, children);
      case Type.Union -> {
        Union type = required((Union) field.type(new Union()));
        yield of(
            name,
            null,
            "union",
            type.mode() == UnionMode.Dense ? Layout.DENSE_UNION : Layout.SPARSE_UNION,
            0,
            children);
      }
      default ->
          throw new EngineException(
              ErrorCode.BAD_COPY_FILE_FORMAT,
              "Arrow schema has type %d, which is not known".formatted(field.typeType()));
    };
  }

  private static String extension(Field field) {
    for (int i = 0; i < Math.min(field.customMetadataLength(), MAX_ENTRIES); i++) {
      KeyValue entry = field.customMetadata(i);
      if (entry != null && "ARROW:extension:name".equals(entry.key())) {
        return entry.value() == null ? "" : entry.value();
      }
    }
    return "";
  }

  private static ArrowShape text(String name, boolean json, Layout layout) {
    FileType type = json ? FileType.JSON : FileType.TEXT;
    return of(name, type, type.toString(), layout, 0, List.of());
  }

  private static ArrowShape bytes(String name, Layout layout) {
    return of(name, FileType.BYTES, "bytes", layout, 0, List.of());
  }

  private static ArrowShape decimal(String name, Decimal type) {
    int width = type.bitWidth() / Byte.SIZE;
    int digits = type.precision();
    boolean known = width == 4 || width == 8 || width == 16 || width == 32;
    if (!known || digits < 1 || digits > MAX_DIGITS || Math.abs((long) type.scale()) > MAX_DIGITS) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          "Arrow schema has decimals of %d digits, scale %d in %d bits"
              .formatted(digits, type.scale(), type.bitWidth()));
    }
    Kind kind = digits <= LONG_DIGITS ? Kind.DECIMAL : Kind.DECIMAL_LITTLE_ENDIAN;
    return fixed(name, FileType.decimal(kind, digits, type.scale()), width);
  }

  private static ArrowShape interval(String name, Interval type) {
    return switch (type.unit()) {
      case IntervalUnit.YEAR_MONTH -> fixed(name, FileType.of(Kind.INTERVAL_MONTHS), 4);
      case IntervalUnit.DAY_TIME -> fixed(name, FileType.of(Kind.INTERVAL_DAYS_MILLIS), 8);
      default -> fixed(name, FileType.of(Kind.INTERVAL_NANOS), 16);
    };
  }

  private static ArrowShape list(String name, Layout layout, int size, List<ArrowShape> children) {
    if (children.size() != 1) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          "Arrow schema has a list of %d fields".formatted(children.size()));
    }
    ArrowShape child = children.getFirst();
    FileType item = child.type();
    boolean simple = item != null && item.kind() != Kind.LIST && !child.hasDictionary();
    FileType type = item == null || !simple ? null : FileType.list(item);
    return of(name, type, "list<" + child.typeName() + ">", layout, size, children);
  }

  /// Whether it is `struct(months int32, days int32, micros int64)`, which holds every interval.
  private static boolean isInterval(List<ArrowShape> children) {
    return children.size() == INTERVAL_FIELDS
        && isInteger(children.get(0), "months", Integer.SIZE)
        && isInteger(children.get(1), "days", Integer.SIZE)
        && isInteger(children.get(2), "micros", Long.SIZE);
  }

  private static boolean isInteger(ArrowShape child, String name, int bits) {
    return child.name().equals(name)
        && !child.hasDictionary()
        && FileType.integer(bits, true).equals(child.type());
  }

  private static TimeUnits units(short unit) {
    return switch (unit) {
      case TimeUnit.SECOND -> TimeUnits.SECONDS;
      case TimeUnit.MILLISECOND -> TimeUnits.MILLIS;
      case TimeUnit.MICROSECOND -> TimeUnits.MICROS;
      case TimeUnit.NANOSECOND -> TimeUnits.NANOS;
      default ->
          throw new EngineException(
              ErrorCode.BAD_COPY_FILE_FORMAT, "Arrow schema has unit " + unit + " of time");
    };
  }
}
