package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.HandlerSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcessSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.Jar;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.DeployedApplication.Version;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.Rights;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The form of applications in the store's catalogue; [TableCodec] has the words. Constants are written by name.
///
/// ```
/// application: u1 version (1) · utf schema · utf name · i8 id · i4 current · options · list of versions · text comment
///   · rights · list of (utf member · acl)
/// list: i4 count · the elements
/// options: i8 time limit, rows, bytes · i4 calls, waiting · i8 stack, memory, function time
/// version: i8 id · i4 number · utf isolation · list of jars (utf name · utf sha256 · i8 bytes) · i8 deployed · contents
/// contents: lists of functions, procedures, routes, handlers, processes
/// ```
final class ApplicationCodec {
  private ApplicationCodec() {}

  static byte[] encode(DeployedApplication application) {
    return RightsFields.bytes(out -> {
      out.writeUTF(application.schema());
      out.writeUTF(application.name());
      out.writeLong(application.applicationId());
      out.writeInt(application.current());
      write(out, application.options());
      writeAll(out, application.versions(), ApplicationCodec::write);
      EntryFields.writeText(out, application.comment());
      RightsFields.writeRights(out, application.rights());
      Map<String, Acl> granted = new TreeMap<>(application.granted());
      out.writeInt(granted.size());
      for (Map.Entry<String, Acl> each : granted.entrySet()) {
        out.writeUTF(each.getKey());
        RightsFields.writeAcl(out, each.getValue());
      }
    });
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static DeployedApplication decode(String key, byte[] value) {
    return RightsFields.read(
        key,
        value,
        in -> {
          String schema = in.readUTF();
          String name = in.readUTF();
          long id = in.readLong();
          int current = in.readInt();
          ApplicationOptions options = readOptions(in);
          List<Version> versions = readAll(in, ApplicationCodec::readVersion);
          if (versions.stream().noneMatch(each -> each.definition().number() == current)) {
            throw new IOException("there is no version " + current);
          }
          String comment = EntryFields.readText(in);
          Rights rights = RightsFields.readRights(in);
          Map<String, Acl> granted = new TreeMap<>();
          for (int left = in.readInt(); left > 0; left--) {
            granted.put(in.readUTF(), RightsFields.readAcl(in));
          }
          return new DeployedApplication(
              id, schema, name, current, versions, options, comment, rights, granted);
        });
  }

  /// Writes an element of a list.
  private interface Writer<T> {
    void write(DataOutputStream out, T value) throws IOException;
  }

  private static <T> void writeAll(DataOutputStream out, List<T> values, Writer<T> writer)
      throws IOException {
    out.writeInt(values.size());
    for (T value : values) {
      writer.write(out, value);
    }
  }

  private static <T> List<T> readAll(DataInputStream in, RightsFields.Reader<T> reader)
      throws IOException {
    List<T> values = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      values.add(reader.read(in));
    }
    return List.copyOf(values);
  }

  private static <E extends Enum<E>> E readConstant(DataInputStream in, Class<E> type)
      throws IOException {
    String name = in.readUTF();
    try {
      return Enum.valueOf(type, name);
    } catch (IllegalArgumentException unknown) {
      throw new IOException("unknown " + type.getSimpleName() + " " + name, unknown);
    }
  }

  private static void write(DataOutputStream out, ApplicationOptions options) throws IOException {
    out.writeLong(options.timeLimitMillis());
    out.writeLong(options.maxRows());
    out.writeLong(options.maxBytes());
    out.writeInt(options.maxCalls());
    out.writeInt(options.maxWaiting());
    out.writeLong(options.maxStackBytes());
    out.writeLong(options.memoryBytes());
    out.writeLong(options.functionTimeMillis());
  }

  private static ApplicationOptions readOptions(DataInputStream in) throws IOException {
    return new ApplicationOptions(
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readInt(),
        in.readInt(),
        in.readLong(),
        in.readLong(),
        in.readLong());
  }

  private static void write(DataOutputStream out, Version version) throws IOException {
    VersionDefinition definition = version.definition();
    out.writeLong(definition.versionId());
    out.writeInt(definition.number());
    out.writeUTF(definition.isolation().name());
    writeAll(
        out,
        definition.jars(),
        (to, jar) -> {
          to.writeUTF(jar.name());
          to.writeUTF(jar.sha256());
          to.writeLong(jar.bytes());
        });
    out.writeLong(version.deployedMicros());
    ApplicationContents contents = definition.contents();
    writeAll(out, contents.functions(), ApplicationCodec::write);
    writeAll(out, contents.procedures(), ApplicationCodec::write);
    writeAll(out, contents.routes(), ApplicationCodec::write);
    writeAll(out, contents.handlers(), ApplicationCodec::write);
    writeAll(
        out,
        contents.processes(),
        (to, process) -> {
          to.writeUTF(process.name());
          to.writeBoolean(process.autostart());
        });
  }

  private static Version readVersion(DataInputStream in) throws IOException {
    long id = in.readLong();
    int number = in.readInt();
    CodeIsolation isolation = readConstant(in, CodeIsolation.class);
    List<Jar> jars = readAll(in, from -> new Jar(from.readUTF(), from.readUTF(), from.readLong()));
    long deployed = in.readLong();
    ApplicationContents contents =
        new ApplicationContents(
            readAll(in, ApplicationCodec::readFunction),
            readAll(in, ApplicationCodec::readProcedure),
            readAll(in, ApplicationCodec::readRoute),
            readAll(in, ApplicationCodec::readHandler),
            readAll(in, from -> new ProcessSignature(from.readUTF(), from.readBoolean())));
    return new Version(new VersionDefinition(id, number, isolation, jars, contents), deployed);
  }

  private static void write(DataOutputStream out, Field field) throws IOException {
    out.writeUTF(field.name());
    out.writeInt(field.typeOid());
    out.writeBoolean(field.nullable());
  }

  private static Field readField(DataInputStream in) throws IOException {
    return new Field(in.readUTF(), in.readInt(), in.readBoolean());
  }

  private static void write(DataOutputStream out, FunctionSignature function) throws IOException {
    out.writeUTF(function.name());
    out.writeUTF(function.kind().name());
    writeAll(out, function.parameters(), ApplicationCodec::write);
    writeAll(out, function.result(), ApplicationCodec::write);
    out.writeUTF(function.volatility().name());
    out.writeBoolean(function.strict());
    out.writeDouble(function.cost());
    out.writeLong(function.rows());
  }

  private static FunctionSignature readFunction(DataInputStream in) throws IOException {
    return new FunctionSignature(
        in.readUTF(),
        readConstant(in, FunctionKind.class),
        readAll(in, ApplicationCodec::readField),
        readAll(in, ApplicationCodec::readField),
        readConstant(in, Volatility.class),
        in.readBoolean(),
        in.readDouble(),
        in.readLong());
  }

  private static void write(DataOutputStream out, ProcedureSignature procedure) throws IOException {
    out.writeUTF(procedure.name());
    writeAll(out, procedure.parameters(), ApplicationCodec::write);
    writeAll(out, procedure.result(), ApplicationCodec::write);
    out.writeUTF(procedure.transaction().name());
    out.writeUTF(procedure.isolation());
    out.writeInt(procedure.retries());
    out.writeLong(procedure.timeLimitMillis());
    out.writeBoolean(procedure.processorBound());
  }

  private static ProcedureSignature readProcedure(DataInputStream in) throws IOException {
    return new ProcedureSignature(
        in.readUTF(),
        readAll(in, ApplicationCodec::readField),
        readAll(in, ApplicationCodec::readField),
        readConstant(in, CallTransaction.class),
        in.readUTF(),
        in.readInt(),
        in.readLong(),
        in.readBoolean());
  }

  private static void write(DataOutputStream out, RouteSignature route) throws IOException {
    out.writeUTF(route.method());
    out.writeUTF(route.path());
    write(out, route.procedure());
    Map<String, Integer> statuses = new TreeMap<>(route.statuses());
    out.writeInt(statuses.size());
    for (Map.Entry<String, Integer> each : statuses.entrySet()) {
      out.writeUTF(each.getKey());
      out.writeInt(each.getValue());
    }
  }

  private static RouteSignature readRoute(DataInputStream in) throws IOException {
    String method = in.readUTF();
    String path = in.readUTF();
    ProcedureSignature procedure = readProcedure(in);
    Map<String, Integer> statuses = new TreeMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      statuses.put(in.readUTF(), in.readInt());
    }
    return new RouteSignature(method, path, procedure, Map.copyOf(statuses));
  }

  private static void write(DataOutputStream out, HandlerSignature handler) throws IOException {
    out.writeUTF(handler.queue());
    out.writeUTF(handler.group());
    out.writeInt(handler.concurrency());
    out.writeLong(handler.leaseMillis());
    out.writeUTF(handler.isolation());
    out.writeLong(handler.timeLimitMillis());
  }

  private static HandlerSignature readHandler(DataInputStream in) throws IOException {
    return new HandlerSignature(
        in.readUTF(), in.readUTF(), in.readInt(), in.readLong(), in.readUTF(), in.readLong());
  }
}
