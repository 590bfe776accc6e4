package dev.kakehashi.schedules;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.jspecify.annotations.Nullable;
import org.pastalab.fray.runtime.Runtime;

/// An agent that shows Fray the accesses of our classes to native memory and by `VarHandle`, which it does not see by itself.
///
/// It also breaks the method that `-Dkakehashi.schedules.fault=` names, a [Fault].
///
/// An access by `Native` is a point of its address. One by a `VarHandle` is a point that conflicts with every other one of its kind.
public final class MemoryPoints implements ClassFileTransformer {
  private static final String OURS = "dev/kakehashi/";
  private static final String SELF = "dev/kakehashi/schedules/";
  private static final String NATIVE = "dev/kakehashi/engine/store/memory/Native";
  private static final ClassDesc POINTS = Points.class.describeConstable().orElseThrow();
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.ofDescriptor("()V");
  private static final MethodTypeDesc ADDRESS = MethodTypeDesc.ofDescriptor("(J)V");

  /// Parses what it has to know of other classes: to load them here would be a circle.
  private final ClassFile classFile =
      ClassFile.of(
          ClassFile.ClassHierarchyResolverOption.of(
              ClassHierarchyResolver.ofResourceParsing(ClassLoader.getSystemClassLoader())));

  private final @Nullable Fault fault;

  private MemoryPoints(@Nullable Fault fault) {
    this.fault = fault;
  }

  /// Called by the JVM before `main`.
  public static void premain(@Nullable String arguments, Instrumentation instrumentation) {
    String fault = System.getProperty(Fault.PROPERTY);
    instrumentation.addTransformer(new MemoryPoints(fault == null ? null : Fault.parse(fault)));
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String name,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] bytes) {
    if (name == null || !name.startsWith(OURS) || name.startsWith(SELF)) {
      return null;
    }
    Runtime.onSkipPrimitive("points");
    try {
      return classFile.transformClass(classFile.parse(bytes), transform(name));
    } catch (RuntimeException | Error e) {
      // The JVM would load the class as it is, without a word.
      System.err.println("cannot transform " + name + ": " + e);
      java.lang.Runtime.getRuntime().halt(3);
      return null;
    } finally {
      Runtime.onSkipPrimitiveDone("points");
    }
  }

  private ClassTransform transform(String name) {
    return (builder, element) -> {
      if (!(element instanceof MethodModel method) || method.code().isEmpty()) {
        builder.with(element);
      } else if (fault != null && fault.isOf(name, method)) {
        fault.apply(builder, method);
      } else {
        CodeTransform points =
            name.equals(NATIVE) ? new AddressPoint(method) : MemoryPoints::handlePoint;
        builder.transformMethod(method, MethodTransform.transformingCode(points));
      }
    };
  }

  /// A point before each access by a `VarHandle`, and before a turn of a loop that spins.
  static void handlePoint(CodeBuilder builder, CodeElement element) {
    if (element instanceof InvokeInstruction call) {
      String owner = call.owner().asInternalName();
      if (owner.equals("java/lang/invoke/VarHandle")
          && !call.name().stringValue().endsWith("Fence")) {
        builder.invokestatic(POINTS, "handle", NOTHING);
      } else if (owner.equals("java/lang/Thread") && call.name().equalsString("onSpinWait")) {
        builder.invokestatic(POINTS, "pause", NOTHING);
      }
    }
    builder.with(element);
  }

  /// A point before each access to a field and each call.
  static void anyPoint(CodeBuilder builder, CodeElement element) {
    if (element instanceof FieldInstruction
        || (element instanceof InvokeInstruction call && call.opcode() != Opcode.INVOKESPECIAL)) {
      builder.invokestatic(POINTS, "handle", NOTHING);
    }
    builder.with(element);
  }

  /// Points at the begin of a method of `Native`, of the addresses that it gets.
  private record AddressPoint(MethodModel method) implements CodeTransform {
    @Override
    public void atStart(CodeBuilder builder) {
      String name = method.methodName().stringValue();
      String type = method.methodType().stringValue();
      boolean writes =
          name.startsWith("put") || name.startsWith("zero") || name.startsWith("compareAndSet");
      if (type.startsWith("(J")) {
        builder.lload(0).invokestatic(POINTS, writes ? "write" : "read", ADDRESS);
      }
      if (name.equals("copyFromArray") || (name.startsWith("copy") && type.startsWith("(JJ"))) {
        builder.lload(2).invokestatic(POINTS, "write", ADDRESS);
      }
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      builder.with(element);
    }
  }
}
