package dev.kakehashi.applications.define;

import dev.kakehashi.application.Aggregate;
import dev.kakehashi.application.ApplicationProcess;
import dev.kakehashi.application.Definitions;
import dev.kakehashi.application.FunctionOptions;
import dev.kakehashi.application.HandlerOptions;
import dev.kakehashi.application.HttpMethod;
import dev.kakehashi.application.ProcedureOptions;
import dev.kakehashi.application.ProcessOptions;
import dev.kakehashi.application.RouteOptions;
import dev.kakehashi.application.TransactionMode;
import dev.kakehashi.applications.Refusals;
import dev.kakehashi.applications.function.FunctionBody;
import dev.kakehashi.applications.type.ArgumentShape;
import dev.kakehashi.applications.type.JavaType;
import dev.kakehashi.applications.type.MemberName;
import dev.kakehashi.applications.type.PayloadShape;
import dev.kakehashi.applications.type.ResultShape;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Takes the definitions of one application, and checks each when it comes. Used by one thread; [#members()] ends it.
///
/// All methods throw INVALID_PARAMETER_VALUE with the place.
public final class DefinitionReader implements Definitions {
  /// Most members of an application, all kinds together.
  private static final int MAX_MEMBERS = 10_000;

  private final List<FunctionDraft> functions = new ArrayList<>();
  private final List<ProcedureDraft> procedures = new ArrayList<>();
  private final List<RouteDraft> routes = new ArrayList<>();
  private final List<HandlerDraft> handlers = new ArrayList<>();
  private final List<ProcessDraft> processes = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private final Thread thread = Thread.currentThread();
  private boolean isOpen = true;

  private record RouteDraft(HttpMethod method, String path, ProcedureDraft.OfRoute procedure) {}

  /// The defined members; nothing can be added from now on.
  public DefinedMembers members() {
    isOpen = false;
    List<ProcedureMember> procedureMembers =
        procedures.stream().map(ProcedureDraft::member).toList();
    List<ProcedureMember> routeMembers =
        routes.stream().map(route -> route.procedure.member()).toList();
    List<RouteSignature> routeSignatures = new ArrayList<>();
    for (int i = 0; i < routes.size(); i++) {
      RouteDraft route = routes.get(i);
      routeSignatures.add(
          new RouteSignature(
              route.method.name(),
              route.path,
              routeMembers.get(i).signature(),
              java.util.Map.copyOf(route.procedure.statuses)));
    }
    List<HandlerMember> handlerMembers = handlers.stream().map(HandlerDraft::member).toList();
    List<ProcessMember> processMembers = processes.stream().map(ProcessDraft::member).toList();
    return new DefinedMembers(
        new ApplicationContents(
            functions.stream().map(FunctionDraft::signature).toList(),
            procedureMembers.stream().map(ProcedureMember::signature).toList(),
            List.copyOf(routeSignatures),
            handlerMembers.stream().map(HandlerMember::signature).toList(),
            processMembers.stream().map(ProcessMember::signature).toList()),
        functions.stream().map(function -> function.body).toList(),
        procedureMembers,
        routeMembers,
        handlerMembers,
        processMembers);
  }

  @SuppressWarnings("ReferenceEquality") // a thread is itself
  void checkOpen() {
    if (!isOpen || Thread.currentThread() != thread) {
      throw new IllegalStateException("definitions are made within define, by its thread");
    }
  }

  // ---- functions ----

  @Override
  public <A, R> FunctionOptions function(
      String name, Class<A> argument, Class<R> result, Function<? super A, ? extends R> body) {
    String place = place("function", name);
    ArgumentShape shape = ArgumentShape.of(argument, place);
    JavaType type = scalar(result, place);
    return add(
        name,
        FunctionKind.SCALAR,
        shape.fields(),
        List.of(field(name, type)),
        FunctionBody.of(shape, type, body));
  }

  @Override
  public <A, B, R> FunctionOptions function(
      String name,
      Class<A> first,
      Class<B> second,
      Class<R> result,
      BiFunction<? super A, ? super B, ? extends R> body) {
    String place = place("function", name);
    JavaType one = scalar(first, place);
    JavaType two = scalar(second, place);
    JavaType type = scalar(result, place);
    return add(
        name,
        FunctionKind.SCALAR,
        List.of(field("", one), field("", two)),
        List.of(field(name, type)),
        FunctionBody.of(one, two, type, body));
  }

  @Override
  public FunctionOptions longFunction(String name, LongUnaryOperator body) {
    place("function", name);
    return ofWords(name, TypeOid.INT8, 1, FunctionBody.of(body));
  }

  @Override
  public FunctionOptions longFunction(String name, LongBinaryOperator body) {
    place("function", name);
    return ofWords(name, TypeOid.INT8, 2, FunctionBody.of(body));
  }

  @Override
  public FunctionOptions doubleFunction(String name, DoubleUnaryOperator body) {
    place("function", name);
    return ofWords(name, TypeOid.FLOAT8, 1, FunctionBody.of(body));
  }

  @Override
  public FunctionOptions doubleFunction(String name, DoubleBinaryOperator body) {
    place("function", name);
    return ofWords(name, TypeOid.FLOAT8, 2, FunctionBody.of(body));
  }

  @Override
  public <A, R> FunctionOptions tableFunction(
      String name,
      Class<A> argument,
      Class<R> row,
      Function<? super A, ? extends Iterable<R>> body) {
    String place = place("function", name);
    ArgumentShape shape = ArgumentShape.of(argument, place);
    ResultShape rows = ResultShape.of(row, name, place);
    if (rows.fields().isEmpty()) {
      throw Refusals.of("%s: its rows have no columns", place);
    }
    return add(
        name,
        FunctionKind.TABLE,
        shape.fields(),
        rows.fields(),
        FunctionBody.of(shape, rows, body));
  }

  @Override
  public <A, S, R> FunctionOptions aggregate(
      String name, Class<A> argument, Class<R> result, Aggregate<A, S, R> body) {
    String place = place("function", name);
    ArgumentShape shape = ArgumentShape.of(argument, place);
    JavaType type = scalar(result, place);
    return add(
        name,
        FunctionKind.AGGREGATE,
        shape.fields(),
        List.of(field(name, type)),
        FunctionBody.of(shape, type, body));
  }

  private FunctionDraft ofWords(String name, int oid, int count, FunctionBody body) {
    Field parameter = new Field("", oid, false);
    return add(
        name,
        FunctionKind.SCALAR,
        count == 1 ? List.of(parameter) : List.of(parameter, parameter),
        List.of(new Field(name, oid, false)),
        body);
  }

  private FunctionDraft add(
      String name,
      FunctionKind kind,
      List<Field> parameters,
      List<Field> result,
      FunctionBody body) {
    FunctionDraft draft = new FunctionDraft(this, name, kind, parameters, result, body);
    functions.add(draft);
    return draft;
  }

  private static Field field(String name, JavaType type) {
    return new Field(name, type.oid(), type.isNullable());
  }

  private static JavaType scalar(Class<?> type, String place) {
    @Nullable JavaType known = JavaType.of(type);
    if (known == null) {
      throw Refusals.of("%s: class %s has no counterpart in SQL", place, type.getTypeName());
    }
    return known;
  }

  // ---- straight code ----

  @Override
  public <A, R> ProcedureOptions procedure(
      String name, Class<A> argument, Class<R> result, Body<? super A, ? extends R> body) {
    return procedure(name, argument, result, false, body);
  }

  @Override
  public <A, R> ProcedureOptions rowsProcedure(
      String name, Class<A> argument, Class<R> row, Body<? super A, Stream<R>> body) {
    return procedure(name, argument, row, true, body);
  }

  private ProcedureDraft procedure(
      String name, Class<?> argument, Class<?> result, boolean isStream, Body<?, ?> body) {
    String place = place("procedure", name);
    ProcedureDraft draft =
        new ProcedureDraft(
            this,
            name,
            ArgumentShape.of(argument, place),
            ResultShape.of(result, name, place),
            isStream,
            body(body),
            TransactionMode.REQUIRED);
    procedures.add(draft);
    return draft;
  }

  @Override
  public <A, R> RouteOptions route(
      HttpMethod method,
      String path,
      Class<A> argument,
      Class<R> result,
      Body<? super A, ? extends R> body) {
    String place = "route " + method + " " + path;
    begin(place);
    ArgumentShape shape = ArgumentShape.of(argument, place);
    RoutePath.check(place, path, shape.fields());
    for (RouteDraft other : routes) {
      if (other.method == method && RoutePath.sameRequests(other.path, path)) {
        throw Refusals.of("%s: route %s %s takes the same requests", place, method, other.path);
      }
    }
    ProcedureDraft.OfRoute draft =
        new ProcedureDraft.OfRoute(
            new ProcedureDraft(
                this,
                method + " " + path,
                shape,
                ResultShape.of(result, "result", place),
                false,
                body(body),
                TransactionMode.OWN));
    routes.add(new RouteDraft(method, path, draft));
    return draft;
  }

  @SuppressWarnings("unchecked") // it gets what its shape makes
  private static Body<Object, Object> body(Body<?, ?> body) {
    return (Body<Object, Object>) java.util.Objects.requireNonNull(body, "body");
  }

  @Override
  @SuppressWarnings("unchecked") // it gets what its shape makes
  public <T> HandlerOptions handler(String queue, Class<T> payload, Handler<T> body) {
    String place = "handler " + queue;
    begin(place);
    if (queue.isEmpty() || queue.length() > 200) {
      throw Refusals.of("%s: this is no name of a queue", place);
    }
    HandlerDraft draft =
        new HandlerDraft(this, queue, PayloadShape.of(payload, place), (Handler<Object>) body);
    handlers.add(draft);
    return draft;
  }

  @Override
  public ProcessOptions process(String name, Supplier<? extends ApplicationProcess> process) {
    String place = "process " + MemberName.checked(name, "process");
    begin(place);
    if (processes.stream().anyMatch(other -> other.name.equals(name))) {
      throw Refusals.of("%s is defined twice", place);
    }
    ProcessDraft draft = new ProcessDraft(this, name, process);
    processes.add(draft);
    return draft;
  }

  /// Begins a function or procedure.
  private String place(String kind, String name) {
    String place = kind + " " + MemberName.checked(name, kind);
    begin(place);
    if (!names.add(name)) {
      throw Refusals.of("%s: this name is defined twice", place);
    }
    return place;
  }

  private void begin(String place) {
    checkOpen();
    int all =
        functions.size() + procedures.size() + routes.size() + handlers.size() + processes.size();
    if (all >= MAX_MEMBERS) {
      throw Refusals.of("%s: an application has at most %d members", place, MAX_MEMBERS);
    }
  }
}
