package dev.kakehashi.applications.link;

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
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.Jar;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/// Definitions, contents and tasks in messages. Thread-safe.
@SuppressWarnings("EnumOrdinal") // both sides are of one build
public final class ContentsCodec {
  private ContentsCodec() {}

  public static void put(MessageWriter to, ApplicationDefinition definition) {
    VersionDefinition version = definition.version();
    ApplicationOptions options = definition.options();
    to.putLong(definition.applicationId())
        .putText(definition.schema())
        .putText(definition.name())
        .putText(definition.owner())
        .putLong(version.versionId())
        .putInt(version.number());
    putList(
        to,
        version.jars(),
        (writer, jar) -> writer.putText(jar.name()).putText(jar.sha256()).putLong(jar.bytes()));
    put(to, version.contents());
    to.putLong(options.timeLimitMillis())
        .putLong(options.maxRows())
        .putLong(options.maxBytes())
        .putInt(options.maxCalls())
        .putInt(options.maxWaiting())
        .putLong(options.maxStackBytes())
        .putLong(options.memoryBytes())
        .putLong(options.functionTimeMillis());
  }

  /// @return with the isolation of code that runs here: none
  public static ApplicationDefinition definition(MessageReader from) {
    return new ApplicationDefinition(
        from.getLong(),
        from.getText(),
        from.getText(),
        from.getText(),
        new VersionDefinition(
            from.getLong(),
            from.getInt(),
            CodeIsolation.NONE,
            from.getList(reader -> new Jar(reader.getText(), reader.getText(), reader.getLong())),
            contents(from)),
        new ApplicationOptions(
            from.getLong(),
            from.getLong(),
            from.getLong(),
            from.getInt(),
            from.getInt(),
            from.getLong(),
            from.getLong(),
            from.getLong()));
  }

  private static <T> void putList(
      MessageWriter to, List<T> list, BiConsumer<MessageWriter, T> element) {
    to.putInt(list.size());
    list.forEach(one -> element.accept(to, one));
  }

  public static void put(MessageWriter to, ApplicationContents contents) {
    putList(
        to,
        contents.functions(),
        (writer, function) -> {
          writer.putText(function.name()).put((byte) function.kind().ordinal());
          putList(writer, function.parameters(), ContentsCodec::put);
          putList(writer, function.result(), ContentsCodec::put);
          writer
              .put((byte) function.volatility().ordinal())
              .put(function.strict())
              .putDouble(function.cost())
              .putLong(function.rows());
        });
    putList(to, contents.procedures(), ContentsCodec::put);
    putList(
        to,
        contents.routes(),
        (writer, route) -> {
          writer.putText(route.method()).putText(route.path());
          put(writer, route.procedure());
          writer.putInt(route.statuses().size());
          route.statuses().forEach((kind, status) -> writer.putText(kind).putInt(status));
        });
    putList(
        to,
        contents.handlers(),
        (writer, handler) ->
            writer
                .putText(handler.queue())
                .putText(handler.group())
                .putInt(handler.concurrency())
                .putLong(handler.leaseMillis())
                .putText(handler.isolation())
                .putLong(handler.timeLimitMillis()));
    putList(
        to,
        contents.processes(),
        (writer, process) -> writer.putText(process.name()).put(process.autostart()));
  }

  private static void put(MessageWriter to, Field field) {
    to.putText(field.name()).putInt(field.typeOid()).put(field.nullable());
  }

  private static void put(MessageWriter to, ProcedureSignature procedure) {
    to.putText(procedure.name());
    putList(to, procedure.parameters(), ContentsCodec::put);
    putList(to, procedure.result(), ContentsCodec::put);
    to.put((byte) procedure.transaction().ordinal())
        .putText(procedure.isolation())
        .putInt(procedure.retries())
        .putLong(procedure.timeLimitMillis())
        .put(procedure.processorBound());
  }

  public static ApplicationContents contents(MessageReader from) {
    return new ApplicationContents(
        from.getList(ContentsCodec::function),
        from.getList(ContentsCodec::procedure),
        from.getList(ContentsCodec::route),
        from.getList(reader ->
            new HandlerSignature(
                reader.getText(),
                reader.getText(),
                reader.getInt(),
                reader.getLong(),
                reader.getText(),
                reader.getLong())),
        from.getList(reader -> new ProcessSignature(reader.getText(), reader.getBoolean())));
  }

  private static FunctionSignature function(MessageReader from) {
    return new FunctionSignature(
        from.getText(),
        one(FunctionKind.values(), from.get()),
        from.getList(ContentsCodec::field),
        from.getList(ContentsCodec::field),
        one(Volatility.values(), from.get()),
        from.getBoolean(),
        from.getDouble(),
        from.getLong());
  }

  private static Field field(MessageReader from) {
    return new Field(from.getText(), from.getInt(), from.getBoolean());
  }

  private static ProcedureSignature procedure(MessageReader from) {
    return new ProcedureSignature(
        from.getText(),
        from.getList(ContentsCodec::field),
        from.getList(ContentsCodec::field),
        one(CallTransaction.values(), from.get()),
        from.getText(),
        from.getInt(),
        from.getLong(),
        from.getBoolean());
  }

  private static RouteSignature route(MessageReader from) {
    String method = from.getText();
    String path = from.getText();
    ProcedureSignature procedure = procedure(from);
    int count = from.getCount();
    Map<String, Integer> statuses = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      statuses.put(from.getText(), from.getInt());
    }
    return new RouteSignature(method, path, procedure, statuses);
  }

  private static <E> E one(E[] all, int index) {
    if (index < 0 || index >= all.length) {
      throw MessageReader.malformed("has an unknown word");
    }
    return all[index];
  }

  public static void put(MessageWriter to, NewTask task) {
    to.put(task.payload().json())
        .putBytes(task.payload().bytes())
        .putOptionalText(task.key())
        .putOptionalText(task.fair())
        .putInt(task.priority())
        .putLong(task.runAtMillis())
        .putOptionalText(task.uniqueKey())
        .putLong(task.uniqueForMillis());
  }

  public static NewTask newTask(MessageReader from) {
    return new NewTask(
        new Payload(from.getBoolean(), from.getBytes()),
        from.getOptionalText(),
        from.getOptionalText(),
        from.getInt(),
        from.getLong(),
        from.getOptionalText(),
        from.getLong());
  }

  public static void put(MessageWriter to, LeasedTask task) {
    to.putText(task.token().text())
        .putLong(task.taskId())
        .put(task.payload().json())
        .putBytes(task.payload().bytes())
        .putOptionalText(task.key())
        .putOptionalText(task.fair())
        .putInt(task.priority())
        .putLong(task.enqueuedMillis())
        .putLong(task.leaseEndMillis())
        .putOptionalText(task.lastError());
  }

  public static LeasedTask leasedTask(MessageReader from) {
    return new LeasedTask(
        LeaseToken.of(from.getText()),
        from.getLong(),
        new Payload(from.getBoolean(), from.getBytes()),
        from.getOptionalText(),
        from.getOptionalText(),
        from.getInt(),
        from.getLong(),
        from.getLong(),
        from.getOptionalText());
  }
}
