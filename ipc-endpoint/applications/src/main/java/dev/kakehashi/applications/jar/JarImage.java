package dev.kakehashi.applications.jar;

import dev.kakehashi.applications.Refusals;
import dev.kakehashi.engine.api.error.EngineException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// A jar in memory: its compressed bytes and a table of what is in it. Immutable, thread-safe.
///
/// The central directory is read and checked when the image is made, an entry when it is asked for. In a multi-release jar, entries of the
/// highest release up to this JVM's hide others.
public final class JarImage {
  private static final int END_BYTES = 22;
  private static final int END_SIGNATURE = 0x06054b50;
  private static final int ENTRY_BYTES = 46;
  private static final int ENTRY_SIGNATURE = 0x02014b50;
  private static final int LOCAL_BYTES = 30;
  private static final int LOCAL_SIGNATURE = 0x04034b50;
  private static final int STORED = 0;
  private static final int DEFLATED = 8;
  private static final int MAX_COMMENT = 0xFFFF;
  private static final int MAX_ENTRIES = 65_534;

  /// Most inflated bytes of all entries together.
  private static final long MAX_INFLATED = 512L << 20;

  /// More than DEFLATE makes of a byte: what claims more is refused before memory is taken for it.
  private static final long MAX_RATIO = 1_040;

  private static final String VERSIONS = "META-INF/versions/";

  private record Entry(int method, int crc, int packed, int size, int header) {}

  private final String name;
  private final ByteBuffer bytes;
  private final Map<String, Entry> entries = new HashMap<>();
  private final Manifest manifest;

  private JarImage(String name, byte[] jar) {
    this.name = name;
    this.bytes = ByteBuffer.wrap(jar).order(ByteOrder.LITTLE_ENDIAN);
    readDirectory();
    manifest = readManifest();
    if (Boolean.parseBoolean(mainAttribute("Multi-Release"))) {
      hideOldReleases();
    }
  }

  /// Reads the table of a jar.
  ///
  /// @param name for messages
  /// @param jar kept; nobody may change it
  /// @throws EngineException INVALID_PARAMETER_VALUE: it is no jar, is damaged, or is too large
  public static JarImage of(String name, byte[] jar) {
    try {
      return new JarImage(name, jar);
    } catch (IndexOutOfBoundsException e) {
      throw damaged(name, "its directory ends too early");
    }
  }

  public String name() {
    return name;
  }

  /// Names of files.
  public Set<String> files() {
    return entries.keySet();
  }

  /// Packages that have a class, with dots; without the unnamed one.
  public Set<String> packages() {
    Set<String> packages = new TreeSet<>();
    for (String file : entries.keySet()) {
      int slash = file.lastIndexOf('/');
      if (slash > 0 && file.endsWith(".class") && !file.startsWith("META-INF/")) {
        packages.add(file.substring(0, slash).replace('/', '.'));
      }
    }
    return packages;
  }

  /// Bytes of a file; the array is the caller's.
  ///
  /// @return null: it has none of this name
  /// @throws EngineException INVALID_PARAMETER_VALUE: it is damaged
  public byte @Nullable [] file(String path) {
    Entry entry = entries.get(path);
    return entry == null ? null : content(path, entry);
  }

  /// Main attribute of the manifest; empty: there is none.
  public String mainAttribute(String attribute) {
    String value = manifest.getMainAttributes().getValue(new Attributes.Name(attribute));
    return value == null ? "" : value.strip();
  }

  // ---- reading ----

  private void readDirectory() {
    int end = bytes.capacity() - END_BYTES;
    int lowest = Math.max(0, end - MAX_COMMENT);
    while (end >= lowest && bytes.getInt(end) != END_SIGNATURE) {
      end--;
    }
    if (end < lowest) {
      throw Refusals.of("\"%s\" is no jar", name);
    }
    int count = Short.toUnsignedInt(bytes.getShort(end + 10));
    int at = bytes.getInt(end + 16);
    if (count > MAX_ENTRIES || at < 0) {
      throw damaged(name, "it has more than " + MAX_ENTRIES + " files, or more than 2 GB");
    }
    long inflated = 0;
    for (int i = 0; i < count; i++) {
      if (bytes.getInt(at) != ENTRY_SIGNATURE) {
        throw damaged(name, "its directory has no entry " + (i + 1));
      }
      int nameBytes = Short.toUnsignedInt(bytes.getShort(at + 28));
      String path = text(at + ENTRY_BYTES, nameBytes);
      Entry entry =
          new Entry(
              Short.toUnsignedInt(bytes.getShort(at + 10)),
              bytes.getInt(at + 16),
              bytes.getInt(at + 20),
              bytes.getInt(at + 24),
              bytes.getInt(at + 42));
      inflated += Integer.toUnsignedLong(entry.size);
      if (inflated > MAX_INFLATED) {
        throw damaged(name, "its files have more than " + (MAX_INFLATED >> 20) + " MB");
      }
      if (!path.endsWith("/") && entries.putIfAbsent(path, entry) != null) {
        throw damaged(name, "it has two files \"" + path + "\"");
      }
      at +=
          ENTRY_BYTES
              + nameBytes
              + Short.toUnsignedInt(bytes.getShort(at + 30))
              + Short.toUnsignedInt(bytes.getShort(at + 32));
    }
  }

  private Manifest readManifest() {
    byte[] file = file("META-INF/MANIFEST.MF");
    try {
      return file == null ? new Manifest() : new Manifest(new ByteArrayInputStream(file));
    } catch (IOException e) {
      throw damaged(name, "its manifest is none: " + e.getMessage());
    }
  }

  private void hideOldReleases() {
    int newest = Runtime.version().feature();
    Map<String, Integer> releases = new HashMap<>();
    for (Map.Entry<String, Entry> each : Map.copyOf(entries).entrySet()) {
      String path = each.getKey();
      int slash = path.indexOf('/', VERSIONS.length());
      if (!path.startsWith(VERSIONS) || slash < 0) {
        continue;
      }
      int release = release(path.substring(VERSIONS.length(), slash));
      String plain = path.substring(slash + 1);
      if (release <= newest && release > releases.getOrDefault(plain, 8)) {
        releases.put(plain, release);
        entries.put(plain, each.getValue());
      }
    }
  }

  private static int release(String digits) {
    return digits.matches("[0-9]{1,4}") ? Integer.parseInt(digits) : Integer.MAX_VALUE;
  }

  private byte[] content(String path, Entry entry) {
    int at = entry.header;
    if (at < 0
        || at > bytes.capacity() - LOCAL_BYTES
        || bytes.getInt(at) != LOCAL_SIGNATURE
        || entry.packed < 0) {
      throw damaged(name, "\"" + path + "\" is not where the directory says");
    }
    long from =
        (long) at
            + LOCAL_BYTES
            + Short.toUnsignedInt(bytes.getShort(at + 26))
            + Short.toUnsignedInt(bytes.getShort(at + 28));
    if (from + entry.packed > bytes.capacity()
        || (entry.method == STORED && entry.size != entry.packed)) {
      throw damaged(name, "\"" + path + "\" ends too early");
    }
    if (entry.size > MAX_RATIO * (entry.packed + 1L)) {
      throw damaged(name, "\"" + path + "\" is not compressed as it says");
    }
    byte[] content = new byte[entry.size];
    switch (entry.method) {
      case STORED -> bytes.get((int) from, content);
      case DEFLATED -> inflate(path, (int) from, entry.packed, content);
      default -> throw damaged(name, "\"" + path + "\" is compressed by method " + entry.method);
    }
    CRC32 crc = new CRC32();
    crc.update(content);
    if ((int) crc.getValue() != entry.crc) {
      throw damaged(name, "the checksum of \"" + path + "\" is wrong");
    }
    return content;
  }

  private void inflate(String path, int from, int packed, byte[] content) {
    Inflater inflater = new Inflater(true);
    try {
      inflater.setInput(bytes.array(), from, packed);
      int filled = 0;
      while (filled < content.length) {
        int more = inflater.inflate(content, filled, content.length - filled);
        if (more == 0) {
          throw damaged(name, "\"" + path + "\" ends too early");
        }
        filled += more;
      }
    } catch (DataFormatException e) {
      throw damaged(name, "\"" + path + "\" is not compressed as it says");
    } finally {
      inflater.end();
    }
  }

  private String text(int at, int length) {
    byte[] copy = new byte[length];
    bytes.get(at, copy);
    return new String(copy, StandardCharsets.UTF_8);
  }

  private static EngineException damaged(String name, String why) {
    return Refusals.of("jar \"%s\" is damaged: %s", name, why);
  }

  /// Module name from the file name without directories, as the Java platform derives it.
  String derivedName(int ordinal) {
    String base = name.substring(name.lastIndexOf('/') + 1);
    String plain =
        base.toLowerCase(Locale.ROOT).endsWith(".jar")
            ? base.substring(0, base.length() - 4)
            : base;
    String derived =
        plain
            .replaceFirst("-[0-9]+(\\..*)?(-.*)?$", "")
            .replaceAll("[^A-Za-z0-9]", ".")
            .replaceAll("\\.{2,}", ".")
            .replaceAll("^\\.|\\.$", "");
    return derived.matches("[A-Za-z][A-Za-z0-9]*(\\.[A-Za-z][A-Za-z0-9]*)*")
        ? derived
        : "application.jar" + ordinal;
  }
}
