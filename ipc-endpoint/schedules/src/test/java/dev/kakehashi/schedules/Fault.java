package dev.kakehashi.schedules;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.MonitorInstruction;

/// How a method is broken, to show that a program finds that.
///
/// @param owner internal name of its class, from `dev/kakehashi/` on
public record Fault(Kind kind, String owner, String method) {
  static final String PROPERTY = "kakehashi.schedules.fault";

  /// The way in which it is broken.
  public enum Kind {
    /// It returns true, or nothing, and does nothing.
    EMPTY,
    /// It takes no lock, and others go on between any two of its steps.
    UNLOCKED
  }

  /// Reads `KIND:package/Class.method`.
  static Fault parse(String text) {
    int colon = text.indexOf(':');
    int dot = text.lastIndexOf('.');
    return new Fault(
        Kind.valueOf(text.substring(0, colon)),
        "dev/kakehashi/" + text.substring(colon + 1, dot),
        text.substring(dot + 1));
  }

  boolean isOf(String name, MethodModel model) {
    return name.equals(owner) && model.methodName().equalsString(method);
  }

  void apply(ClassBuilder builder, MethodModel model) {
    int flags = model.flags().flagsMask() & ~ClassFile.ACC_SYNCHRONIZED;
    if (kind == Kind.UNLOCKED) {
      builder.withMethod(
          model.methodName(),
          model.methodType(),
          flags,
          body -> body.transformCode(model.code().orElseThrow(), Fault::unlock));
      return;
    }
    builder.withMethodBody(
        model.methodName(),
        model.methodType(),
        flags,
        code -> {
          if (model.methodType().stringValue().endsWith("V")) {
            code.return_();
          } else {
            code.iconst_1().ireturn();
          }
        });
  }

  private static void unlock(CodeBuilder builder, CodeElement element) {
    boolean locks =
        element instanceof MonitorInstruction
            || (element instanceof InvokeInstruction call
                && call.owner().asInternalName().equals("java/util/concurrent/locks/ReentrantLock")
                && call.name().stringValue().endsWith("lock"));
    if (locks) {
      builder.pop();
    } else {
      MemoryPoints.anyPoint(builder, element);
    }
  }
}
