package dev.kakehashi.applications.jar;

import dev.kakehashi.application.CodeGuard;
import dev.kakehashi.application.VersionLocal;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.Superclass;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Changes classes of users' code when they are loaded, so that what they do has a defined end.
///
/// | in the class | becomes |
/// |---|---|
/// | a branch backwards, the beginning of a method that calls another | a place where [CodeGuard] may stop it; costs nothing while nothing is stopped |
/// | `System.exit`, `Runtime.exit`, `Runtime.halt`, also as method references, by reflection and by method handles | an exception: the process is not the application's |
/// | `ThreadLocal` | [VersionLocal], whose values do not stay with the threads of the platform |
///
/// A class of before Java 7, and one that cannot be changed because a class that it mentions is not there, stays as it is.
final class CodeInstrumentation {
  private static final ClassDesc GUARD = ClassDesc.of(CodeGuard.class.getName());
  private static final ClassDesc LOCAL = ClassDesc.of(VersionLocal.class.getName());
  private static final ClassDesc THREAD_LOCAL = ClassDesc.of("java.lang.ThreadLocal");
  private static final DynamicCallSiteDesc LOOK =
      DynamicCallSiteDesc.of(
          ConstantDescs.ofCallsiteBootstrap(
              GUARD, "link", ClassDesc.of("java.lang.invoke.CallSite")),
          "look",
          MethodTypeDesc.of(ConstantDescs.CD_void));
  private static final MethodTypeDesc EXIT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
  private static final ClassDesc SYSTEM = ClassDesc.of("java.lang.System");
  private static final ClassDesc RUNTIME = ClassDesc.of("java.lang.Runtime");
  private static final MethodTypeDesc RUNTIME_EXIT =
      MethodTypeDesc.of(ConstantDescs.CD_void, RUNTIME, ConstantDescs.CD_int);
  private static final MethodTypeDesc CHECK =
      MethodTypeDesc.of(ConstantDescs.CD_void, ClassDesc.of("java.lang.reflect.Method"));
  private static final ClassDesc LOOKUP = ConstantDescs.CD_MethodHandles_Lookup;
  private static final Set<String> FINDERS =
      Set.of("findStatic", "findVirtual", "bind", "unreflect");
  private static final int FIRST_WITH_DYNAMIC_CALLS = 51;

  private final ClassFile files;

  /// @param classes where the hierarchy of classes is looked up, besides those of the JVM
  CodeInstrumentation(ClassHierarchyResolver classes) {
    files =
        ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(
                classes.orElse(ClassHierarchyResolver.defaultResolver())));
  }

  /// @throws IllegalArgumentException the class is none, or mentions one that is not there
  byte[] changed(byte[] bytes) {
    ClassModel model = files.parse(bytes);
    if (model.majorVersion() < FIRST_WITH_DYNAMIC_CALLS) {
      return bytes;
    }
    return files.transformClass(model, new Changes());
  }

  /// Changes to one class.
  private static final class Changes implements ClassTransform {
    @Override
    public void accept(
        java.lang.classfile.ClassBuilder builder, java.lang.classfile.ClassElement element) {
      switch (element) {
        case Superclass its when its.superclassEntry().asSymbol().equals(THREAD_LOCAL) ->
            builder.withSuperclass(LOCAL);
        case MethodModel method when method.code().isPresent() ->
            builder.transformMethod(
                method,
                (methodBuilder, part) -> {
                  if (part instanceof CodeModel code) {
                    methodBuilder.transformCode(code, new Code(method, code));
                  } else {
                    methodBuilder.with(part);
                  }
                });
        default -> builder.with(element);
      }
    }
  }

  /// Changes to the code of one method.
  private static final class Code implements CodeTransform {
    private final Set<Label> passed = new HashSet<>();
    private final boolean looksFirst;

    Code(MethodModel method, CodeModel code) {
      looksFirst =
          method.methodName().stringValue().startsWith("lambda$")
              || code.elementList().stream().anyMatch(InvokeInstruction.class::isInstance);
    }

    @Override
    public void atStart(CodeBuilder builder) {
      if (looksFirst) {
        builder.invokedynamic(LOOK);
      }
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      switch (element) {
        case LabelTarget target -> {
          passed.add(target.label());
          builder.with(element);
        }
        case BranchInstruction branch when passed.contains(branch.target()) -> {
          builder.invokedynamic(LOOK);
          builder.with(element);
        }
        case TableSwitchInstruction its when isBack(its.cases(), its.defaultTarget()) -> {
          builder.invokedynamic(LOOK);
          builder.with(element);
        }
        case LookupSwitchInstruction its when isBack(its.cases(), its.defaultTarget()) -> {
          builder.invokedynamic(LOOK);
          builder.with(element);
        }
        case NewObjectInstruction its when its.className().asSymbol().equals(THREAD_LOCAL) ->
            builder.new_(LOCAL);
        case InvokeDynamicInstruction dynamic
            when dynamic.bootstrapArgs().stream().anyMatch(Code::ends) ->
            builder.invokedynamic(
                DynamicCallSiteDesc.of(
                    dynamic.bootstrapMethod(),
                    dynamic.name().stringValue(),
                    dynamic.typeSymbol(),
                    dynamic.bootstrapArgs().stream()
                        .map(each -> ends(each) ? guarded((DirectMethodHandleDesc) each) : each)
                        .toArray(ConstantDesc[]::new)));
        case InvokeInstruction call -> invoke(builder, call);
        default -> builder.with(element);
      }
    }

    private boolean isBack(List<SwitchCase> cases, Label other) {
      return passed.contains(other)
          || cases.stream().anyMatch(each -> passed.contains(each.target()));
    }

    /// Whether it is a method that ends the process.
    private static boolean ends(ConstantDesc constant) {
      return constant instanceof DirectMethodHandleDesc handle
          && ((handle.owner().equals(SYSTEM) && handle.methodName().equals("exit"))
              || (handle.owner().equals(RUNTIME)
                  && (handle.methodName().equals("exit") || handle.methodName().equals("halt"))));
    }

    private static DirectMethodHandleDesc guarded(DirectMethodHandleDesc handle) {
      return MethodHandleDesc.ofMethod(
          DirectMethodHandleDesc.Kind.STATIC,
          GUARD,
          "exit",
          handle.owner().equals(SYSTEM) ? EXIT : RUNTIME_EXIT);
    }

    private static void invoke(CodeBuilder builder, InvokeInstruction call) {
      String owner = call.owner().asInternalName();
      String name = call.name().stringValue();
      switch (owner) {
        case "java/lang/System" -> {
          if (name.equals("exit")) {
            builder.invokestatic(GUARD, "exit", EXIT);
            return;
          }
        }
        case "java/lang/Runtime" -> {
          if (name.equals("exit") || name.equals("halt")) {
            builder.invokestatic(GUARD, "exit", RUNTIME_EXIT);
            return;
          }
        }
        case "java/lang/reflect/Method" -> {
          if (name.equals("invoke")) {
            // method, object, arguments: a look at the first one.
            builder.dup2_x1().pop2().dup().invokestatic(GUARD, "check", CHECK).dup_x2().pop();
          }
        }
        case "java/lang/invoke/MethodHandles$Lookup" -> {
          if (FINDERS.contains(name)) {
            builder.invokestatic(GUARD, name, call.typeSymbol().insertParameterTypes(0, LOOKUP));
            return;
          }
        }
        case "java/lang/ThreadLocal" -> {
          if (call.opcode() == Opcode.INVOKESPECIAL) {
            builder.invokespecial(LOCAL, name, call.typeSymbol());
            return;
          }
          if (name.equals("withInitial")) {
            builder.invokestatic(LOCAL, name, call.typeSymbol());
            return;
          }
        }
        default -> {}
      }
      builder.with(call);
    }
  }
}
